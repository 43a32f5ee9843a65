import { DEFAULT_PORTS } from './address.ts'
import type { RepositoryAddress } from './address.ts'
import { Failure } from '../failure.ts'
import { hostOf, publicAPI, publicHost } from './hosts.ts'
import type { Host } from './hosts.ts'
import type { Kind, RemoteSpec } from '../resource/resource.ts'

/** Where the API of a repository is. */
export interface ApiEndpoint {
  readonly host: Host
  /** Without a slash at its end. */
  readonly baseURL: string
  readonly repository: readonly string[]
}

/** Throws InvalidSpec where nothing says which API it is, as every PullRequest without faults does. */
export function apiEndpoint(spec: RemoteSpec, address: RepositoryAddress): ApiEndpoint {
  const host = hostOf(address, spec.provider)
  const baseURL = publicAPI(address.host)?.[0] ?? spec.providerConfig?.baseURL
  if (host === undefined || baseURL === undefined) {
    const message =
      'spec.provider and spec.providerConfig.baseURL do not tell where the API of spec.repository is; write both.'
    throw new Failure('InvalidSpec', message)
  }
  return { host, baseURL, repository: repositoryAt(address, spec.providerConfig?.baseURL) }
}

/**
 * The repository's path at its host: without that of an installation which is not at the top of its host, known by
 * what stands before `/api/` in its `baseURL`.
 */
export function repositoryAt(address: RepositoryAddress, baseURL: string | undefined): readonly string[] {
  const path = URL.parse(baseURL ?? '')?.pathname ?? ''
  const prefix = path.includes('/api/') ? path.slice(0, path.lastIndexOf('/api/')).split('/').slice(1) : []
  const lies = prefix.every((segment, index) => address.segments[index] === segment)
  return lies ? address.segments.slice(prefix.length) : address.segments
}

/**
 * Every address that what binds a credential has to cover. A pull request of an SSH address is opened by the API on
 * port 443 of the same host, where another server may answer than on the port that the address names. The API of a
 * public host is its own.
 */
export function calledAddresses(kind: Kind, address: RepositoryAddress): readonly RepositoryAddress[] {
  const { scheme, host, segments } = address
  if (kind === 'GitCommit' || scheme !== 'ssh' || publicHost(host) !== undefined) return [address]
  const text = `https://${host.includes(':') ? `[${host}]` : host}/${segments.join('/')}`
  return [address, { scheme: 'https', user: undefined, host, port: DEFAULT_PORTS.https, segments, text }]
}
