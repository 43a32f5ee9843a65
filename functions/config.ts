import { mkdtempSync, readFileSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Surroundings } from './net/addresses.ts'
import { readDefaultConfig } from './default-config.ts'
import { readSigningKeyFile } from './default-signing.ts'
import { readGateSettings } from './domain/gate/settings.ts'
import type { Proxies } from './domain/network/proxies.ts'
import { readProxies } from './domain/network/proxies.ts'
import { REQUESTED_BY_TRAILERS } from './domain/requester/requester.ts'
import type { Environment } from './domain/settings.ts'
import {
  LOG_LEVELS,
  WrongSetting,
  choice,
  metricsPortOf,
  orUndefined,
  text,
  wholeNumber,
} from './domain/settings.ts'
import { readTraceSettings, type TraceSettings } from './telemetry/trace-settings.ts'
import type { AttemptSettings } from './world.ts'

/**
 * What talks to Git remotes: the engine that speaks the protocol itself, and hands over to the git binary where it has to;
 * or the git binary alone. The default is first.
 */
export const GIT_ENGINES = ['direct', 'binary'] as const
export type GitEngine = (typeof GIT_ENGINES)[number]

/** One day: a longer interval is probably a mistake. */
const LONGEST_INTERVAL_S = 86_400

/** The function's configuration from its environment variables, validated. */
export interface Config extends AttemptSettings {
  readonly port: number
  /** Undefined: nothing is measured. */
  readonly metricsPort: number | undefined
  /** Undefined: no traces are sent. */
  readonly traces: TraceSettings | undefined
  /** Path of a PEM file with certificate authorities, trusted in addition to the system's. */
  readonly caFile: string | undefined
  /** Log-ins of one namespace that may fail at one host before Commitlet waits. */
  readonly failedLogins: number
  /** MiB that one attempt may fetch. */
  readonly fetchLimit: number
  readonly gitEngine: GitEngine
  /** Least seconds between two sweeps that a PingSource asks for; 0 turns them off. */
  readonly sweepInterval: number
  readonly sweepFullInterval: number
  /** Existing folder for temporary files. */
  readonly tempDir: string
  readonly proxies: Proxies
  /** What the environment of a pod shows about its cluster. */
  readonly surroundings: Surroundings
  readonly logLevel: string
}

/** Reads the configuration once, at startup. Throws WrongSetting with one sentence for an invalid value. */
export function readConfig(env: Environment): Config {
  const interval = (name: string, absent: number): number =>
    wholeNumber(env, name, { absent, least: 0, most: LONGEST_INTERVAL_S })
  return {
    port: wholeNumber(env, 'PORT', { absent: 8080, least: 0, most: 65_535 }),
    metricsPort: metricsPortOf(env),
    traces: readTraceSettings(env, 'commitlet-function'),
    caFile: certificateFile(env, 'CA_FILE'),
    attemptDeadline: wholeNumber(env, 'ATTEMPT_DEADLINE', { absent: 120, least: 1, most: 540 }),
    retryLimit: wholeNumber(env, 'RETRY_LIMIT', { absent: 12, least: 1, most: 100 }),
    failedLogins: wholeNumber(env, 'FAILED_LOGINS', { absent: 8, least: 1, most: 1_000 }),
    fetchLimit: wholeNumber(env, 'FETCH_LIMIT', { absent: 256, least: 1, most: 65_536 }),
    gitEngine: choice(env, 'GIT_ENGINE', GIT_ENGINES),
    sweepInterval: interval('SWEEP_INTERVAL', 30),
    sweepFullInterval: interval('SWEEP_FULL_INTERVAL', 300),
    tempDir: folder(env, 'TMPDIR', '/tmp'),
    proxies: readProxies(env),
    surroundings: readSurroundings(env),
    ...readGateSettings(env, readFileSync),
    defaults: readDefaultConfig(env),
    signingKeyFile: readSigningKeyFile(env),
    knownHosts: knownHostsIn(env, 'SSH_KNOWN_HOSTS'),
    requestedByTrailer: choice(env, 'REQUESTED_BY_TRAILER', REQUESTED_BY_TRAILERS),
    author: {
      name: identityPart(env, 'COMMIT_AUTHOR_NAME', 'Commitlet'),
      email: identityPart(env, 'COMMIT_AUTHOR_EMAIL', 'commitlet@users.noreply.local'),
    },
    logLevel: choice(env, 'LOG_LEVEL', LOG_LEVELS),
  }
}

// The kubelet sets these variables in every container.
function readSurroundings(env: Environment): Surroundings {
  const host = text(env, 'KUBERNETES_SERVICE_HOST', undefined)
  const port = wholeNumber(env, 'KUBERNETES_SERVICE_PORT', { absent: 443, least: 1, most: 65_535 })
  return { inCluster: host !== undefined, apiServer: host === undefined ? [] : [{ host, port }] }
}

function folder(env: Environment, name: string, absent: string): string {
  const path = text(env, name, absent)
  if (isWritable(path)) return path
  throw new WrongSetting(`${name} is "${path}", but has to be a folder that Commitlet may write to.`)
}

function isWritable(path: string): boolean {
  try {
    rmdirSync(mkdtempSync(join(path, 'commitlet-start-')))
    return true
  } catch {
    return false
  }
}

function knownHostsIn(env: Environment, name: string): string | undefined {
  const path = text(env, name, undefined)
  if (path === undefined) return undefined
  const content = orUndefined(() => readFileSync(path, 'utf8')) ?? ''
  if (/^[^#\s]\S*\s+\S+\s+\S+/m.test(content)) return content
  throw new WrongSetting(
    `${name} is "${path}", but has to be the path of a readable file in the format of known_hosts(5).`,
  )
}

function certificateFile(env: Environment, name: string): string | undefined {
  const path = text(env, name, undefined)
  if (path === undefined) return undefined
  const content = orUndefined(() => readFileSync(path, 'utf8'))
  if (content?.includes('-----BEGIN CERTIFICATE-----') === true) return path
  throw new WrongSetting(
    `${name} is "${path}", but has to be the path of a readable PEM file with certificates.`,
  )
}

/** Git writes identities as `Name <email>`: neither part may contain a character that ends it. */
function identityPart(env: Environment, name: string, absent: string): string {
  const value = text(env, name, absent)
  if (/^[^<>\x00-\x1f]*[^<>\x00-\x20.,:;"'][^<>\x00-\x1f]*$/.test(value)) return value
  throw new WrongSetting(
    `${name} is "${value}", but has to be one line without < and > that is not punctuation alone.`,
  )
}
