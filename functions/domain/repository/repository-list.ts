import { isSSHUser, parseAuthority, parseSegments } from './address.ts'
import type { Authority } from './address.ts'

/**
 * The first entry that matches. Every attempt reads such a list, so its entries are looked at one by one: it may have
 * 130,000, and an array of them costs ten times as much.
 */
export function findEntry(list: string, matches: (entry: string) => boolean): string | undefined {
  for (let begin = 0; begin <= list.length;) {
    const comma = list.indexOf(',', begin)
    const end = comma < 0 ? list.length : comma
    const entry = entryIn(list.slice(begin, end))
    if (matches(entry)) return entry
    begin = end + 1
  }
  return undefined
}

// Users write a slash at the end of a folder; it is ignored.
function entryIn(text: string): string {
  const entry = text.trim()
  return entry.endsWith('/') && entry.length > 1 && entry.at(-2) !== '/' ? entry.slice(0, -1) : entry
}

/** An entry of a list of repositories: `[user@]host[:port][/path]`. */
export interface Entry {
  /** Undefined: the host's usual user over SSH, and HTTPS. */
  readonly user: string | undefined
  readonly authority: Authority
  readonly segments: readonly string[]
}

/** Undefined if it is malformed. */
export function parseEntry(entry: string): Entry | undefined {
  const slash = entry.indexOf('/')
  const [place, path] = slash < 0 ? [entry, undefined] : [entry.slice(0, slash), entry.slice(slash + 1)]
  const at = place.lastIndexOf('@')
  const user = at < 0 ? undefined : place.slice(0, at)
  const authority = parseAuthority(place.slice(at + 1).toLowerCase())
  const segments = path === undefined ? [] : parseSegments(path)
  if (authority === undefined || segments === undefined) return undefined
  return user === undefined || isSSHUser(user) ? { user, authority, segments } : undefined
}
