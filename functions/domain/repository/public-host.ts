import type { RepositoryAddress } from './address.ts'
import { hostNamed, HOSTS, type Host } from './hosts.ts'

/** The row of a public host, by its exact name. */
export function publicHost(host: string): Host | undefined {
  return HOSTS.find((row) => webHostOf(row, host) !== undefined)
}

/** The row for a repository: by its host, else by `spec.provider`, else none. */
export function hostOf(address: RepositoryAddress, provider: string | undefined): Host | undefined {
  return publicHost(address.host) ?? (provider === undefined ? undefined : hostNamed(provider))
}

/** `baseURL` and, if there is one, `uploadURL` of a public host; undefined for any other host. */
export function publicAPI(host: string): readonly string[] | undefined {
  const row = publicHost(host)
  const web = row === undefined ? undefined : webHostOf(row, host)
  return web === undefined ? undefined : row?.publicAPI.map((url) => url.replace('HOST', web))
}

/** The web host of a row if this host is one of its public hosts; else undefined. */
export function webHostOf(row: Host, host: string): string | undefined {
  if (row.webHost !== undefined && [row.webHost, ...row.gitHosts].includes(host)) return row.webHost
  if (row.tenantDomain === undefined) return undefined
  const tenant = host.endsWith(`.${row.tenantDomain}`) ? host.slice(0, -row.tenantDomain.length - 1) : ''
  return /^[a-z0-9-]+$/.test(tenant) ? host : undefined
}
