import { isIP } from 'node:net'
import { bracketed } from '../../domain/repository/address.ts'
import type { RepositoryAddress } from '../../domain/repository/address.ts'
import type { PasswordLogin } from '../../domain/credentials/login.ts'
import type { Proxy } from '../../domain/network/proxies.ts'
import type { Route } from '../../domain/network/route.ts'

/** Environment of a child process: nothing of this process's own gets into it. */
export type ChildEnvironment = Readonly<Record<string, string>>

/** Bounds of one git process and all its children. */
export interface Bounds {
  /** After so many seconds the whole process group is killed. */
  readonly deadlineSeconds: number
  /** Private memory of each process. */
  readonly memoryMiB: number
  /** Size of each file that is written; undefined: as large as the disk. */
  readonly fileMiB: number | undefined
}

/** Where a repository is, by which route, and whom to trust there. */
export interface Destination extends Route {
  readonly address: RepositoryAddress
  /** PEM file of the authorities to trust; undefined: those that git was built for. */
  readonly authorities: string | undefined
}

// `never` for every protocol but the repository's own: `ext::` would run a command, a plain path would read this
// machine's files. lowSpeedTime is long because a hook on the server may be silent.
const ONLINE = {
  'http.followRedirects': 'false',
  'protocol.allow': 'never',
  // Git obeys servers that name other addresses to fetch from (packfile-uris, alternates): all but the repository
  // itself is called by a proxy that cannot be, since nobody connects to a broadcast address.
  'http.proxy': 'http://255.255.255.255:1',
  'http.proxyAuthMethod': 'basic',
  'http.lowSpeedLimit': '1',
  'http.lowSpeedTime': '45',
  'credential.helper': '',
  'fetch.fsckObjects': 'true',
  // Old repositories are full of it, and nothing here is ever checked out.
  'fetch.fsck.zeroPaddedFilemode': 'ignore',
  'fetch.unpackLimit': '1',
}

const OFFLINE = {
  'core.hooksPath': '/dev/null',
  'core.fsync': 'none',
  // Larger ones are packed as they are: looking for deltas takes many times their size of memory.
  'core.bigFileThreshold': '1m',
  'gc.auto': '0',
  'maintenance.auto': 'false',
  'fastimport.unpackLimit': '1',
  'pack.threads': '1',
}

/** Where a git works, and how far it may go. */
export interface GitPlace {
  /** A bare repository. */
  readonly folder: string
  /** PATH. */
  readonly path: string
  readonly bounds: Bounds
}

/** What a git gets that has no business on the network. */
export function offlineEnvironment(place: GitPlace): ChildEnvironment {
  return {
    ...common(place),
    GIT_ALLOW_PROTOCOL: 'none',
    GIT_NO_LAZY_FETCH: '1',
    ...configuration(OFFLINE),
  }
}

/**
 * What a git gets that talks to the remote. The login is one header for this repository's URL only. Its value
 * and the proxy are not in here: the launcher reads them from standard input and puts them into git's own
 * environment, which the same user alone can read. They are never in argv, in a file, or in what simple-git shows
 * when DEBUG is set.
 */
export function onlineEnvironment(place: GitPlace, destination: Destination): ChildEnvironment {
  return {
    ...common(place),
    COMMITLET_LOGIN: 'read',
    ...(destination.authorities === undefined
      ? {}
      : { GIT_SSL_CAINFO: destination.authorities, GIT_PROXY_SSL_CAINFO: destination.authorities }),
    // Retry-After is shown nowhere else. Git leaves the Authorization header out of it.
    GIT_TRACE_CURL: '1',
    GIT_TRACE_CURL_NO_DATA: '1',
    ...configuration({ ...OFFLINE, ...ONLINE, ...routeSettings(destination) }, 2),
    GIT_CONFIG_KEY_0: `http.${destination.address.text}.extraHeader`,
    // Of this remote, not of its URL: what Git fetches by URL besides, be it from the same host, has none.
    GIT_CONFIG_KEY_1: `remote.${destination.address.text}.proxy`,
  }
}

/** The remote that a tunnel is to git: it has a URL and no refspecs. */
export const TUNNEL = 'tunnel'

/**
 * What a git gets that talks to a tunnel of this process: no login, and no protocol but the tunnel's. Where the
 * tunnel is stands in here alone: everybody on a machine can read argv, the environment only the same user (proc(5)).
 */
export function tunnelEnvironment(place: GitPlace, url: string): ChildEnvironment {
  const route = { 'protocol.git.allow': 'always', [`remote.${TUNNEL}.url`]: url }
  return { ...common(place), ...configuration({ ...OFFLINE, ...ONLINE, ...route }) }
}

/** The first line that the launcher reads. */
export function loginLine({ username, password }: PasswordLogin): string {
  return `Authorization: Basic ${Buffer.from(`${username}:${password}`).toString('base64')}\n`
}

/** The second line that the launcher reads: empty means a direct connection. */
export function proxyLine(proxy: Proxy | undefined): string {
  return `${proxy?.url ?? ''}\n`
}

/** The connection goes to the addresses that were checked, whatever the name means by now. */
function routeSettings({ address, addresses, insecure }: Destination): Readonly<Record<string, string>> {
  const { scheme, host, port } = address
  const written = addresses?.map(bracketed).join(',')
  const pinned =
    written === undefined || isIP(host) !== 0 ? {} : { 'http.curloptResolve': `${host}:${port}:${written}` }
  const unverified = insecure ? { [`http.${address.text}.sslVerify`]: 'false' } : {}
  const allowed = scheme === 'ssh' ? {} : { [`protocol.${scheme}.allow`]: 'always' }
  return { ...allowed, ...pinned, ...unverified }
}

function common({ folder, path, bounds }: GitPlace): ChildEnvironment {
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
    COMMITLET_LOGIN: '',
    COMMITLET_DEADLINE: String(bounds.deadlineSeconds),
    COMMITLET_MEMORY: String(bounds.memoryMiB * 1024),
    COMMITLET_FILE: bounds.fileMiB === undefined ? '' : String(Math.floor(bounds.fileMiB * 2048)),
  }
}

// The numbers below `first` are left free.
function configuration(settings: Readonly<Record<string, string>>, first = 0): ChildEnvironment {
  const entries = Object.entries(settings)
  const keys = entries.map(([key], i): [string, string] => [`GIT_CONFIG_KEY_${i + first}`, key])
  const values = entries.map(([, value], i): [string, string] => [`GIT_CONFIG_VALUE_${i + first}`, value])
  return { GIT_CONFIG_COUNT: String(entries.length + first), ...Object.fromEntries([...keys, ...values]) }
}
