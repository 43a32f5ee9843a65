import { isRecord, member, textMember } from '../json-value.ts'

/** The sender of a request, as the API server reports it (authentication.k8s.io/v1 UserInfo). */
export interface UserInfo {
  readonly username: string
  readonly uid?: string
  readonly groups?: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** The longest user name that is shown, in characters. */
const LONGEST_NAME = 256

/** Reads a UserInfo from JSON; undefined if the user name is missing or empty. Malformed members are left out. */
export function readUserInfo(value: unknown): UserInfo | undefined {
  const username = textMember(value, 'username')
  if (username === undefined || username === '') return undefined
  const uid = textMember(value, 'uid')
  const groups = member(value, 'groups')
  const extra = member(value, 'extra')
  return {
    username,
    ...(uid === undefined ? {} : { uid }),
    ...(isTextList(groups) ? { groups } : {}),
    ...(isTextLists(extra) ? { extra } : {}),
  }
}

/**
 * The bytes of all that is known of a user as JSON, in which an empty group takes three, and a control character six. Of one who
 * has more characters than `enough`, these: to write megabytes takes long.
 */
export function bytesOfUser(user: UserInfo, enough: number): number {
  const { username, uid = '', groups = [], extra = {} } = user
  const texts = [username, uid, ...groups, ...Object.keys(extra), ...Object.values(extra).flat()]
  const characters = texts.reduce((sum, { length }) => sum + length, 0)
  return characters > enough ? characters : Buffer.byteLength(JSON.stringify(user))
}

/**
 * A user name as it may be shown, in one line of at most 256 characters: control characters, invisible
 * formatting (which can turn the reading direction), line separators and halves of characters become `?`.
 */
export function displayName(username: string): string {
  // More is not shown, and a name may have megabytes.
  const begin = username.slice(0, 2 * (LONGEST_NAME + 1))
  const cleaned = begin.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '?')
  const characters = Array.from(cleaned)
  return characters.length <= LONGEST_NAME ? cleaned : `${characters.slice(0, LONGEST_NAME - 1).join('')}…`
}

/**
 * A service account as the API server sees it when it calls: its user name and groups
 * (https://kubernetes.io/docs/reference/access-authn-authz/authentication/#service-account-tokens).
 */
export function serviceAccount(namespace: string, name: string): UserInfo {
  return {
    username: `system:serviceaccount:${namespace}:${name}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
  }
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

function isTextLists(value: unknown): value is Readonly<Record<string, readonly string[]>> {
  return isRecord(value) && Object.values(value).every(isTextList)
}
