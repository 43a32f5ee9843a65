import { isIP } from 'node:net'
import { join } from 'node:path'
import { bracketed } from '../../domain/repository/address.ts'
import type { RepositoryAddress } from '../../domain/repository/address.ts'
import { basicAuthorization, type PasswordLogin } from '../../domain/credentials/login.ts'
import type { Proxy } from '../../domain/network/proxies.ts'
import type { Route } from '../../domain/network/route.ts'
import { NO_AUTHORITIES } from './bundle.ts'
import { HOOKS } from './push-hook.ts'

/** Environment of a child process: nothing is inherited from this process. */
export type ChildEnvironment = Readonly<Record<string, string>>

/** What one git push may do. */
export interface PushBounds {
  /** The ref that it moves, by its full name. */
  readonly ref: string
  /** It must not begin after this many seconds since the start of the machine. */
  readonly until?: number | undefined
}

/** Bounds of one git process and all its children. */
export interface Bounds {
  /** The whole process group is killed after this many seconds. */
  readonly deadlineSeconds: number
  /** Private memory limit of each process. */
  readonly memoryMiB: number
  /** Each process ends after so many seconds of the processor, with SIGXCPU. */
  readonly cpuSeconds: number
  /** Size limit of each file that is written; undefined: no limit. */
  readonly fileMiB: number | undefined
}

/** Where a repository is, by which route it is reached, and which authorities are trusted. */
export interface Destination extends Route {
  readonly address: RepositoryAddress
  /** PEM file of the authorities to trust. */
  readonly authorities: string
}

// `never` for every protocol but the repository's own: `ext::` would run a command, a plain path would read this
// machine's files. lowSpeedTime is long because a hook on the server may run for a while without output.
const ONLINE = {
  'http.followRedirects': 'false',
  'protocol.allow': 'never',
  // Git follows servers that name other addresses to fetch from (packfile-uris, alternates). Requests to anything but
  // the repository itself go to a proxy that cannot exist, because a broadcast address accepts no connection.
  'http.proxy': 'http://255.255.255.255:1',
  'http.proxyAuthMethod': 'basic',
  'http.lowSpeedLimit': '1',
  'http.lowSpeedTime': '45',
  'credential.helper': '',
  'fetch.fsckObjects': 'true',
  // Common in old repositories, and harmless here because nothing is checked out. Git 2.39 refuses it all the same
  // where it fetches with a filter; the direct engine reads it.
  'fetch.fsck.zeroPaddedFilemode': 'ignore',
  'fetch.unpackLimit': '1',
}

const OFFLINE = {
  'core.hooksPath': '/dev/null',
  'core.fsync': 'none',
  // Larger files are packed without deltas: the search for deltas takes many times their size of memory.
  'core.bigFileThreshold': '1m',
  'gc.auto': '0',
  'maintenance.auto': 'false',
  'fastimport.unpackLimit': '1',
  'pack.threads': '1',
  // Nobody reads it here.
  'pack.writeReverseIndex': 'false',
}

/** Where a git process runs, and its limits. */
export interface RunSettings {
  /** A bare repository. */
  readonly folder: string
  /** PATH. */
  readonly path: string
  readonly bounds: Bounds
  /** What a push may do (push-hook.ts). */
  readonly push?: PushBounds | undefined
}

/** Environment of a git that does not use the network. */
export function offlineEnvironment(run: RunSettings): ChildEnvironment {
  return {
    ...common(run),
    GIT_ALLOW_PROTOCOL: 'none',
    ...configuration(OFFLINE),
  }
}

/**
 * Environment of a git that talks to the remote. The login is one header for this repository's URL only. The values
 * of the header and of the proxy are not included: the launcher reads them from standard input and adds them to git's
 * environment, which only the same user can read. They are never in argv, in a file, or in simple-git's debug output.
 */
export function onlineEnvironment(run: RunSettings, destination: Destination): ChildEnvironment {
  return {
    ...common(run),
    COMMITLET_LOGIN: 'read',
    GIT_SSL_CAINFO: destination.authorities,
    GIT_PROXY_SSL_CAINFO: destination.authorities,
    GIT_SSL_CAPATH: join(run.folder, NO_AUTHORITIES),
    // The only output with Retry-After. Git leaves out the Authorization header.
    GIT_TRACE_CURL: '1',
    GIT_TRACE_CURL_NO_DATA: '1',
    ...configuration({ ...OFFLINE, ...ONLINE, ...routeSettings(destination), ...hookOf(run) }, 2),
    GIT_CONFIG_KEY_0: `http.${destination.address.text}.extraHeader`,
    // Set for this remote, not for its URL: nothing else that Git fetches, even from the same host, uses this proxy.
    GIT_CONFIG_KEY_1: `remote.${destination.address.text}.proxy`,
  }
}

/** Name of the remote that stands for a tunnel in git's configuration: it has a URL and no refspecs. */
export const TUNNEL = 'tunnel'

/**
 * Environment of a git that talks to a tunnel of this process: no login, and no protocol but the tunnel's. The
 * tunnel's URL is in the environment only, because every user of the machine can read argv, but only the same user can
 * read the environment (proc(5)).
 */
export function tunnelEnvironment(run: RunSettings, url: string): ChildEnvironment {
  const route = { 'protocol.git.allow': 'always', [`remote.${TUNNEL}.url`]: url }
  return { ...common(run), ...configuration({ ...OFFLINE, ...ONLINE, ...route, ...hookOf(run) }) }
}

/** The first line that the launcher reads. */
export function loginLine(login: PasswordLogin): string {
  return `Authorization: ${basicAuthorization(login)}\n`
}

/** The second line that the launcher reads: empty means a direct connection. */
export function proxyLine(proxy: Proxy | undefined): string {
  return `${proxy?.url ?? ''}\n`
}

/** The connection goes to the addresses that were checked, even if the name resolves to others by now. */
function routeSettings({ address, addresses, insecure }: Destination): Readonly<Record<string, string>> {
  const { scheme, host, port } = address
  const addressList = addresses?.map(bracketed).join(',')
  const pinned =
    addressList === undefined || isIP(host) !== 0
      ? {}
      : { 'http.curloptResolve': `${host}:${port}:${addressList}` }
  const unverified = insecure ? { [`http.${address.text}.sslVerify`]: 'false' } : {}
  const allowed = scheme === 'ssh' ? {} : { [`protocol.${scheme}.allow`]: 'always' }
  return { ...allowed, ...pinned, ...unverified }
}

function hookOf({ folder, push }: RunSettings): Readonly<Record<string, string>> {
  return push === undefined ? {} : { 'core.hooksPath': join(folder, HOOKS) }
}

function common({ folder, path, bounds, push }: RunSettings): ChildEnvironment {
  return {
    PATH: path,
    LC_ALL: 'C',
    HOME: '/nonexistent',
    GIT_DIR: folder,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: '/bin/false',
    GIT_LITERAL_PATHSPECS: '1',
    // What a fetch lacks, such as the base of a delta, Git would fetch in another process, and what that lacks in another one.
    GIT_NO_LAZY_FETCH: '1',
    COMMITLET_LOGIN: '',
    COMMITLET_DEADLINE: String(bounds.deadlineSeconds),
    COMMITLET_MEMORY: String(bounds.memoryMiB * 1024),
    COMMITLET_CPU: String(bounds.cpuSeconds),
    ...(push === undefined ? {} : { COMMITLET_REF: push.ref, COMMITLET_UNTIL: String(push.until ?? '') }),
    COMMITLET_FILE: bounds.fileMiB === undefined ? '' : String(Math.floor(bounds.fileMiB * 2048)),
  }
}

// The numbers below `first` are reserved for the caller.
function configuration(settings: Readonly<Record<string, string>>, first = 0): ChildEnvironment {
  const entries = Object.entries(settings)
  const keys = entries.map(([key], i): [string, string] => [`GIT_CONFIG_KEY_${i + first}`, key])
  const values = entries.map(([, value], i): [string, string] => [`GIT_CONFIG_VALUE_${i + first}`, value])
  return { GIT_CONFIG_COUNT: String(entries.length + first), ...Object.fromEntries([...keys, ...values]) }
}
