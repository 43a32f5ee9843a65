import { DEFAULT_PORTS } from './address.ts'
import type { RepositoryAddress } from './address.ts'
import { pathComplaint } from './committed-path.ts'
import { publicHost } from './hosts.ts'
import { findEntry, parseEntry } from './repository-list.ts'

/** The form of an entry, for messages. */
export const ENTRY_FORM = '[user@]host[:port][/path]'

/**
 * Whether a comma-separated list of `[user@]host[:port][/path]` covers the repository. An entry without a port means
 * the scheme's default port; a path covers itself and everything below it by whole segments, without regard to a
 * trailing `.git`; letter case is ignored on hosts known to ignore it. An entry without a user covers HTTPS, and SSH
 * for the host's usual user; one with a user covers SSH for that user alone, because the user decides who logs in. A
 * segment with braces is covered only by an entry that has it too: Bitbucket takes a UUID in braces for any repository.
 * A malformed entry and an empty list cover nothing.
 */
export function allows(list: string, address: RepositoryAddress): boolean {
  return findEntry(list, (entry) => covers(entry, address)) !== undefined
}

/** The SSH user that an entry without a user means on this host. What the resource says about its host does not count. */
export function sshUserOf(host: string): string {
  return publicHost(host)?.sshUser ?? 'git'
}

/** The first entry of such a list that is malformed or empty, so that it covers nothing; undefined: none. */
export function unsoundEntry(list: string): string | undefined {
  return findEntry(list, (entry) => parseEntry(entry) === undefined)
}

/**
 * Whether a comma-separated list of prefixes covers the path, by whole segments and exact letters: `clusters/prod` covers
 * `clusters/prod/a.yaml`, not `clusters/production/a.yaml`. An empty entry, or one with an empty segment, `.` or
 * `..`, covers nothing.
 */
export function allowsPath(list: string, path: string): boolean {
  return findEntry(list, (entry) => isFolderOf(entry, path) && isPlain(entry)) !== undefined
}

/** The first entry of such a list of prefixes that is not a valid path, so that it covers nothing; undefined: none. */
export function unsoundPrefix(list: string): string | undefined {
  return findEntry(list, (entry) => pathComplaint(entry) !== undefined)
}

function isFolderOf(entry: string, path: string): boolean {
  return path.startsWith(entry) && (path.length === entry.length || path[entry.length] === '/')
}

function isPlain(entry: string): boolean {
  return entry.split('/').every((segment) => !['', '.', '..'].includes(segment))
}

function covers(entry: string, address: RepositoryAddress): boolean {
  // A list may have 100,000 entries.
  if (!entry.toLowerCase().includes(address.host)) return false
  const parsed = parseEntry(entry)
  if (parsed === undefined) return false
  const { user, authority, segments } = parsed
  if (authority.host !== address.host || !coversUser(user, address)) return false
  if ((authority.port ?? DEFAULT_PORTS[address.scheme]) !== address.port) return false
  const fold = publicHost(address.host) === undefined ? same : lower
  if (address.segments.slice(segments.length).some((segment) => /[{}]/.test(segment))) return false
  return isPrefix(segments.map(fold), address.segments.map(fold))
}

function coversUser(user: string | undefined, { scheme, user: given, host }: RepositoryAddress): boolean {
  if (scheme !== 'ssh') return user === undefined
  return given === (user ?? sshUserOf(host))
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
