import { member, sameJSON, textMember } from './member.ts'
import { REQUESTED_AT, REQUESTED_BY, REQUESTER } from './resources.ts'

/** Who sent a request, as the API server says it (authentication.k8s.io/v1 UserInfo). */
export interface UserInfo {
  readonly username: string
  readonly uid?: string
  readonly groups?: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** Annotations of a resource; `null` or absent where it has none. */
export type Annotations = Readonly<Record<string, unknown>> | null | undefined

/** The stamp's annotations and their values; undefined: the resource has to be without it. */
export type Stamp = Readonly<Record<typeof REQUESTED_BY | typeof REQUESTER, string | undefined>>

/** One operation of a JSON Patch (RFC 6902). */
export type PatchOperation =
  | { readonly op: 'add'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }

/** The states that a stamp is decided by; `before` is undefined on CREATE. */
export interface Application {
  readonly before: unknown
  readonly after: unknown
}

/** The longest user name that people are shown, in characters. */
const LONGEST_NAME = 256

/**
 * Does this application ask for something? True on CREATE and where the spec or the value of
 * `commitlet.dev/requested-at` is another one.
 */
export function asksAnew({ before, after }: Application): boolean {
  if (before === undefined) return true
  if (annotation(before, REQUESTED_AT) !== annotation(after, REQUESTED_AT)) return true
  return !sameJSON(member(before, 'spec'), member(after, 'spec'))
}

/** Does the resource come with another stamp than it had? */
export function changesStamp({ before, after }: Application): boolean {
  return [REQUESTED_BY, REQUESTER].some((key) => annotation(before, key) !== annotation(after, key))
}

/**
 * The stamp that the resource has to carry: the sender's where he asks for something, else the one it had,
 * whoever updates the rest. Of `extra` only the keys of `extraKeys` are kept, because some clouds put
 * credentials there.
 */
export function stampFor(application: Application, user: UserInfo, extraKeys: readonly string[]): Stamp {
  if (asksAnew(application)) {
    return { [REQUESTED_BY]: shownName(user.username), [REQUESTER]: requesterJSON(user, extraKeys) }
  }
  return {
    [REQUESTED_BY]: annotation(application.before, REQUESTED_BY),
    [REQUESTER]: annotation(application.before, REQUESTER),
  }
}

/** The least JSON Patch that makes the annotations sent carry the stamp; empty where they do already. */
export function stampPatch(sent: Annotations, stamp: Stamp): readonly PatchOperation[] {
  const wanted = Object.entries(stamp)
  if (sent === undefined || sent === null) {
    const value = Object.fromEntries(wanted.filter(([, text]) => text !== undefined))
    return Object.keys(value).length === 0 ? [] : [{ op: 'add', path: '/metadata/annotations', value }]
  }
  return wanted.flatMap(([key, text]): PatchOperation[] => {
    const path = `/metadata/annotations/${escapePointer(key)}`
    if (text !== undefined) return member(sent, key) === text ? [] : [{ op: 'add', path, value: text }]
    return Object.hasOwn(sent, key) ? [{ op: 'remove', path }] : []
  })
}

/**
 * A user name as people may be shown it, in one line of at most 256 characters: control characters, invisible
 * formatting (which can turn the reading direction), line separators and halves of characters become `?`.
 */
export function shownName(username: string): string {
  const cleaned = username.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '?')
  const characters = Array.from(cleaned)
  return characters.length <= LONGEST_NAME ? cleaned : `${characters.slice(0, LONGEST_NAME - 1).join('')}…`
}

// The order of the keys is fixed: the same person gives the same bytes.
function requesterJSON(user: UserInfo, extraKeys: readonly string[]): string {
  const kept = extraKeys.flatMap((key) => {
    const values = member(user.extra, key)
    return values === undefined ? [] : [[key, values] as const]
  })
  return JSON.stringify({
    username: user.username,
    uid: user.uid,
    groups: user.groups,
    extra: kept.length === 0 ? undefined : Object.fromEntries(kept),
  })
}

function annotation(resource: unknown, key: string): string | undefined {
  return textMember(member(member(resource, 'metadata'), 'annotations'), key)
}

// RFC 6901: `~` first, or the `~` of `~1` would be escaped again.
function escapePointer(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}
