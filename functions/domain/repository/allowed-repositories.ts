import { DEFAULT_PORTS } from './address.ts'
import type { RepositoryAddress } from './address.ts'
import { pathComplaint } from './committed-path.ts'
import { publicHost } from './public-host.ts'
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
  const place = placeOf(address)
  return findEntry(list, (entry) => covers(entry, place)) !== undefined
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
 * Which of these paths a comma-separated list of prefixes covers, by whole segments and exact letters: `clusters/prod` covers
 * `clusters/prod/a.yaml`, not `clusters/production/a.yaml`. An empty entry, or one with an empty segment, `.` or
 * `..`, covers nothing. The list is read once: it may have 130,000 entries, and a commit a hundred paths.
 */
export function coveredPaths(list: string, paths: readonly string[]): ReadonlySet<string> {
  const root = foldersOf(paths)
  findEntry(list, (entry) => {
    cover(root, entry)
    return false
  })
  return new Set(paths.filter((path) => isCovered(root, path)))
}

/** The first entry of such a list of prefixes that is not a valid path, so that it covers nothing; undefined: none. */
export function unsoundPrefix(list: string): string | undefined {
  return findEntry(list, (entry) => pathComplaint(entry) !== undefined)
}

/** A folder of some paths, or one of these. */
interface Folder {
  readonly within: Map<string, Folder>
  isCovered: boolean
}

function foldersOf(paths: readonly string[]): Folder {
  const root: Folder = { within: new Map(), isCovered: false }
  for (const path of paths) {
    let folder = root
    for (const segment of path.split('/')) {
      const next = folder.within.get(segment) ?? { within: new Map<string, Folder>(), isCovered: false }
      folder.within.set(segment, next)
      folder = next
    }
  }
  return root
}

/** Marks the folder that this entry names, if there is one. */
function cover(root: Folder, entry: string): void {
  let folder: Folder | undefined = root
  for (let begin = 0; begin <= entry.length && folder !== undefined;) {
    const slash = entry.indexOf('/', begin)
    const end = slash < 0 ? entry.length : slash
    const segment = entry.slice(begin, end)
    folder = NO_NAMES.includes(segment) ? undefined : folder.within.get(segment)
    begin = end + 1
  }
  if (folder !== undefined) folder.isCovered = true
}

const NO_NAMES = ['', '.', '..']

function isCovered(root: Folder, path: string): boolean {
  let folder: Folder | undefined = root
  for (const segment of path.split('/')) {
    folder = folder?.within.get(segment)
    if (folder?.isCovered === true) return true
  }
  return false
}

/** What of an address all entries are compared with. A list may have 100,000 entries, and an address 1,000 segments. */
interface Place {
  readonly address: RepositoryAddress
  readonly fold: (segment: string) => string
  /** Folded. */
  readonly segments: readonly string[]
  /** The number of segments up to the last one with braces. */
  readonly braced: number
}

function placeOf(address: RepositoryAddress): Place {
  const fold = publicHost(address.host) === undefined ? same : lower
  const braced = address.segments.findLastIndex((segment) => /[{}]/.test(segment)) + 1
  return { address, fold, segments: address.segments.map(fold), braced }
}

function covers(entry: string, { address, fold, segments: whole, braced }: Place): boolean {
  if (!entry.toLowerCase().includes(address.host)) return false
  const parsed = parseEntry(entry)
  if (parsed === undefined) return false
  const { user, authority, segments } = parsed
  if (authority.host !== address.host || !coversUser(user, address)) return false
  if ((authority.port ?? DEFAULT_PORTS[address.scheme]) !== address.port) return false
  return segments.length >= braced && segments.every((segment, index) => fold(segment) === whole[index])
}

function coversUser(user: string | undefined, { scheme, user: given, host }: RepositoryAddress): boolean {
  if (scheme !== 'ssh') return user === undefined
  return given === (user ?? sshUserOf(host))
}

function same(segment: string): string {
  return segment
}

function lower(segment: string): string {
  return segment.toLowerCase()
}
