import type { RepositoryAddress } from './address.ts'
import { publicHost, webHostOf } from './public-host.ts'
import { findEntry, parseEntry } from './repository-list.ts'

/**
 * Whether what is demanded of the repositories of a comma-separated list of `[user@]host[:port][/path]` is demanded at this
 * address. The opposite of a permission (allowed-repositories.ts): an address that may be another spelling of a repository
 * of the list counts. The user and the letter case do not matter, nor does the port if the entry has none; all names of
 * a public host are one; `~` at the beginning is a home folder, and a part in braces may be any name. A malformed entry
 * demands nothing.
 */
export function demands(list: string, address: RepositoryAddress): boolean {
  return findEntry(list, (entry) => mayMean(entry, address)) !== undefined
}

function mayMean(entry: string, { host, port, segments: given }: RepositoryAddress): boolean {
  const parsed = parseEntry(entry)
  if (parsed === undefined || oneNameOf(parsed.authority.host) !== oneNameOf(host)) return false
  if (parsed.authority.port !== undefined && parsed.authority.port !== port) return false
  const { segments } = parsed
  const fromHome = given[0]?.startsWith('~') === true ? given.slice(1) : given
  return [given, fromHome].some((path) => segments.every((segment, index) => isLike(segment, path[index])))
}

/** Of a public host, such as ssh.github.com, the one with its pages. */
function oneNameOf(host: string): string {
  const row = publicHost(host)
  return (row === undefined ? undefined : webHostOf(row, host)) ?? host
}

function isLike(segment: string, given: string | undefined): boolean {
  if (given === undefined) return false
  return /[{}]/.test(given) || segment.toLowerCase() === given.toLowerCase()
}
