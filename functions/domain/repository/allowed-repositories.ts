import { DEFAULT_PORTS, parseAuthority, parseSegments } from './address.ts'
import type { Authority, RepositoryAddress } from './address.ts'
import { pathComplaint } from './committed-path.ts'
import { publicHost } from './hosts.ts'

/**
 * Whether a comma-separated list of `host[:port][/path]` covers the repository. An entry without a port means the
 * scheme's default port; a path covers itself and everything below it by whole segments, without regard to a trailing
 * `.git`; letter case is ignored on hosts known to ignore it. A malformed entry and an empty list cover nothing.
 */
export function allows(list: string, address: RepositoryAddress): boolean {
  return entries(list).some((entry) => covers(entry, address))
}

/** The first entry of such a list that is malformed or empty, so that it covers nothing; undefined: none. */
export function unsoundEntry(list: string): string | undefined {
  return entries(list).find((entry) => parseEntry(entry) === undefined)
}

/**
 * Whether a comma-separated list of prefixes covers the path, by whole segments and exact letters: `clusters/prod` covers
 * `clusters/prod/a.yaml`, not `clusters/production/a.yaml`. An empty entry, or one with an empty segment, `.` or
 * `..`, covers nothing.
 */
export function allowsPath(list: string, path: string): boolean {
  return entries(list).some((entry) => {
    const prefix = entry.split('/')
    const sound = prefix.every((segment) => !['', '.', '..'].includes(segment))
    return sound && isPrefix(prefix, path.split('/'))
  })
}

/** The first entry of such a list of prefixes that is not a valid path, so that it covers nothing; undefined: none. */
export function unsoundPrefix(list: string): string | undefined {
  return entries(list).find((entry) => pathComplaint(entry) !== undefined)
}

// Users write a slash at the end of a folder; it is ignored.
function entries(list: string): readonly string[] {
  return list.split(',').map((entry) => entry.trim().replace(/([^/])\/$/, '$1'))
}

interface Entry {
  readonly authority: Authority
  readonly segments: readonly string[]
}

function parseEntry(entry: string): Entry | undefined {
  const slash = entry.indexOf('/')
  const [hostAndPort, path] = slash < 0 ? [entry, undefined] : [entry.slice(0, slash), entry.slice(slash + 1)]
  const authority = parseAuthority(hostAndPort.toLowerCase())
  const segments = path === undefined ? [] : parseSegments(path)
  return authority === undefined || segments === undefined ? undefined : { authority, segments }
}

function covers(entry: string, address: RepositoryAddress): boolean {
  const parsed = parseEntry(entry)
  if (parsed === undefined) return false
  const { authority, segments } = parsed
  if (authority.host !== address.host) return false
  if ((authority.port ?? DEFAULT_PORTS[address.scheme]) !== address.port) return false
  const fold = publicHost(address.host) === undefined ? same : lower
  return isPrefix(segments.map(fold), address.segments.map(fold))
}

function isPrefix(prefix: readonly string[], segments: readonly string[]): boolean {
  return prefix.length <= segments.length && prefix.every((segment, index) => segment === segments[index])
}

function same(segment: string): string {
  return segment
}

function lower(segment: string): string {
  return segment.toLowerCase()
}
