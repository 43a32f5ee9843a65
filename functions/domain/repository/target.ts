import { bracketed, DEFAULT_PORTS, writeAuthority } from './address.ts'
import type { RepositoryAddress } from './address.ts'
import { Failure } from '../failure.ts'
import type { Host } from './hosts.ts'
import { hostOf, publicAPI, publicHost, webHostOf } from './public-host.ts'
import type { Kind } from '../resource/api-names.ts'

/** What is called: the Git server, or the API of the host. */
export type Calls = 'git' | 'api'

/** Where a resource's repository is, and what is known about its host. Made once from the spec, then passed on. */
export interface Target {
  readonly calls: Calls
  readonly address: RepositoryAddress
  /** By the address, else by `spec.provider`; undefined: its software is not known, which is enough for a commit. */
  readonly host: Host | undefined
  /** `baseURL` and, if there is one, `uploadURL` of a public host; undefined for any other host. */
  readonly publicAPI: readonly string[] | undefined
  /** Without a slash at its end; undefined if it is not known where the API is. */
  readonly baseURL: string | undefined
  /** The repository's path at its host, without the path of an installation that is not at the top of its host. */
  readonly repository: readonly string[]
  /** Every address that the restrictions of a credential have to cover. */
  readonly called: readonly RepositoryAddress[]
}

/** The fields of a spec, other than the address, that describe the host. */
export interface HostHints {
  /** `spec.provider`. */
  readonly provider?: string | undefined
  /** `spec.providerConfig.baseURL`. */
  readonly baseURL?: string | undefined
}

/** The target of a resource of this kind. */
export function targetOf(kind: Kind, address: RepositoryAddress, hints: HostHints = {}): Target {
  const calls = kind === 'PullRequest' ? 'api' : 'git'
  const api = publicAPI(address.host)
  return {
    calls,
    address,
    host: hostOf(address, hints.provider),
    publicAPI: api,
    baseURL: api?.[0] ?? hints.baseURL,
    repository: repositoryAt(address, hints.baseURL),
    called: calledAddresses(calls, address),
  }
}

/** The same target at another address on its host, such as after the repository was renamed. */
export function movedTo(target: Target, address: RepositoryAddress): Target {
  const installation = target.address.segments.length - target.repository.length
  const repository = address.segments.slice(installation)
  return { ...target, address, repository, called: calledAddresses(target.calls, address) }
}

/** Where the API of a repository is. */
export interface ApiEndpoint {
  readonly host: Host
  /** Without a slash at its end. */
  readonly baseURL: string
  readonly repository: readonly string[]
}

/** Throws InvalidSpec if the API is not known, which never happens for a PullRequest without errors. */
export function requireAPI({ host, baseURL, repository }: Target): ApiEndpoint {
  if (host !== undefined && baseURL !== undefined) return { host, baseURL, repository }
  const message =
    'spec.provider and spec.providerConfig.baseURL do not tell where the API of spec.repository is; write both.'
  throw new Failure('InvalidSpec', message)
}

/** The web address of a commit; undefined if the software of the host is not known. */
export function commitURL({ address, host: row }: Target, sha: string): string | undefined {
  if (row === undefined) return undefined
  const web = webAddressOf(address, row)
  const authority = writeAuthority(web, DEFAULT_PORTS[web.scheme])
  return `${web.scheme}://${authority}/${address.segments.join('/')}${row.commitPath}${sha}`
}

// The path of the installation is what comes before `/api/` in its `baseURL`.
function repositoryAt(address: RepositoryAddress, baseURL: string | undefined): readonly string[] {
  const path = URL.parse(baseURL ?? '')?.pathname ?? ''
  const prefix = path.includes('/api/') ? path.slice(0, path.lastIndexOf('/api/')).split('/').slice(1) : []
  const isBelow = prefix.every((segment, index) => address.segments[index] === segment)
  return isBelow ? address.segments.slice(prefix.length) : address.segments
}

// A pull request for an SSH address is opened through the API on port 443 of the same host, where another server may
// answer than on the port of the address. The API of a public host belongs to that host.
function calledAddresses(calls: Calls, address: RepositoryAddress): readonly RepositoryAddress[] {
  const { scheme, host, segments } = address
  if (calls === 'git' || scheme !== 'ssh' || publicHost(host) !== undefined) return [address]
  const text = `https://${bracketed(host)}/${segments.join('/')}`
  return [address, { scheme: 'https', user: undefined, host, port: DEFAULT_PORTS.https, segments, text }]
}

interface WebAddress {
  readonly scheme: 'https' | 'http'
  readonly host: string
  readonly port: number
}

// The port of SSH does not determine that of the web.
function webAddressOf(address: RepositoryAddress, row: Host): WebAddress {
  const host = webHostOf(row, address.host) ?? address.host
  const { scheme, port } = address
  return scheme === 'ssh' ? { scheme: 'https', host, port: DEFAULT_PORTS.https } : { scheme, host, port }
}
