import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { GateSettings } from '../functions/domain/gate/settings.ts'
import { readGateSettings } from '../functions/domain/gate/settings.ts'
import { isRecord, member, parsedJSON } from '../functions/domain/json-value.ts'
import { readProxies, type Proxies } from '../functions/domain/network/proxies.ts'
import { readTraceSettings, type TraceSettings } from '../functions/telemetry/trace-settings.ts'
import type { Environment } from '../functions/domain/settings.ts'
import {
  choice,
  list,
  LOG_LEVELS,
  metricsPortOf,
  orUndefined,
  text,
  wholeNumber,
  WrongSetting,
} from '../functions/domain/settings.ts'
import { certificatesIn } from '../functions/net/trust.ts'
import type { SinkTarget } from './delivery/delivery.ts'
import type { KeyPairFiles } from './tls.ts'

/** One day: a longer interval is probably a mistake. */
const LONGEST_INTERVAL_S = 86_400
/** Attributes that the event itself sets (CloudEvents 1.0, "Context Attributes"). */
const OWN_ATTRIBUTES = new Set([
  'specversion',
  'type',
  'source',
  'id',
  'subject',
  'time',
  'datacontenttype',
  'dataschema',
  'data',
])

/** The webhook's settings, as docs/configuration.md lists them. Intervals are seconds; 0 turns a sweep off. */
export interface WebhookConfig extends GateSettings {
  readonly port: number
  /** Undefined: nothing is measured. */
  readonly metricsPort: number | undefined
  /** Undefined: no traces are sent. */
  readonly traces: TraceSettings | undefined
  /** How they are sent. The file is read when the first are. */
  readonly caFile: string | undefined
  readonly proxies: Proxies
  readonly tls: KeyPairFiles
  /** Name of the Secret in which the webhook keeps its own certificate; undefined: it is in the files. */
  readonly tlsSecret: string | undefined
  /** Undefined: the webhook only decides about resources and sends no events. */
  readonly sink: SinkTarget | undefined
  readonly requesterExtra: readonly string[]
  readonly sweepInterval: number
  readonly sweepFullInterval: number
  readonly logLevel: (typeof LOG_LEVELS)[number]
}

/** Reads the environment. Throws WrongSetting with one sentence for an invalid value. */
export function readConfig(env: Environment): WebhookConfig {
  const seconds = (name: string, absent: number): number =>
    wholeNumber(env, name, { absent, least: 0, most: LONGEST_INTERVAL_S })
  return {
    port: wholeNumber(env, 'PORT', { absent: 8443, least: 0, most: 65_535 }),
    metricsPort: metricsPortOf(env),
    traces: readTraceSettings(env, 'commitlet-webhook'),
    caFile: text(env, 'CA_FILE', undefined),
    proxies: readProxies(env),
    tls: {
      certFile: text(env, 'TLS_CERT_FILE', '/etc/webhook/tls/tls.crt'),
      keyFile: text(env, 'TLS_KEY_FILE', '/etc/webhook/tls/tls.key'),
      clientCAFile: text(env, 'CLIENT_CA_FILE', undefined),
    },
    tlsSecret: text(env, 'TLS_SECRET', undefined),
    sink: readSink(env),
    requesterExtra: list(env, 'REQUESTER_EXTRA', 'scopes.authorization.openshift.io'),
    sweepInterval: seconds('SWEEP_INTERVAL', 30),
    sweepFullInterval: seconds('SWEEP_FULL_INTERVAL', 300),
    ...readGateSettings(env, readFileSync),
    logLevel: choice(env, 'LOG_LEVEL', LOG_LEVELS),
  }
}

function readSink(env: Environment): SinkTarget | undefined {
  const address = text(env, 'K_SINK', undefined)
  const target = { extensions: readOverrides(env), caCerts: readCACerts(env) }
  if (address === undefined) return undefined
  const url = URL.parse(address)
  const web = url?.protocol === 'http:' || url?.protocol === 'https:'
  if (url !== null && web && url.username === '' && url.password === '') return { url, ...target }
  // The value is not shown: it may hold a password.
  throw new WrongSetting('K_SINK has to be an http or https address without a user name, but is not.')
}

function readCACerts(env: Environment): string | undefined {
  const pem = text(env, 'K_CA_CERTS', undefined)
  if (pem === undefined) return undefined
  const certificates = certificatesIn(pem)
  if (certificates?.every(isCertificate) === true) return certificates.join('')
  throw new WrongSetting('K_CA_CERTS has to hold certificates in PEM form, but does not.')
}

function isCertificate(pem: string): boolean {
  return (orUndefined(() => new X509Certificate(pem).subject) ?? '') !== ''
}

function readOverrides(env: Environment): Readonly<Record<string, string>> {
  const json = text(env, 'K_CE_OVERRIDES', undefined)
  if (json === undefined) return {}
  const extensions = Object.entries(extensionsOf(json))
  const wrong = extensions.find(([name, value]) => !isExtension(name) || typeof value === 'object')
  if (wrong === undefined) return Object.fromEntries(extensions.map(([name, value]) => [name, String(value)]))
  throw new WrongSetting(
    `K_CE_OVERRIDES has the extension "${wrong[0]}", but an extension needs a name of lower-case letters and digits that no attribute has, and a plain value.`,
  )
}

// A SinkBinding without overrides sets `{}`.
function extensionsOf(json: string): Readonly<Record<string, unknown>> {
  const overrides = parsedJSON(json)
  const extensions = member(overrides, 'extensions') ?? {}
  if (isRecord(overrides) && isRecord(extensions)) return { ...extensions }
  throw new WrongSetting('K_CE_OVERRIDES has to be JSON like {"extensions":{"name":"value"}}, but is not.')
}

function isExtension(name: string): boolean {
  return /^[a-z0-9]{1,64}$/.test(name) && !OWN_ATTRIBUTES.has(name)
}
