import type { UserInfo } from './user-info.ts'
import { serviceAccount } from './user-info.ts'

/** GitOps controllers that apply what others wrote, and whose rights count in place of theirs. */
export interface Delegation {
  /** User names of the controllers. */
  readonly appliers: readonly string[]
  /** Name of the service account of the resource's namespace that they are reviewed as. */
  readonly account: string
}

/** Who applies, and whose rights count for it. */
export interface Applier {
  readonly user: UserInfo
  /** The user himself, or the account that a controller is reviewed as. */
  readonly subject: UserInfo
  /** User name of that account; undefined where the user is reviewed himself. */
  readonly as: string | undefined
}

/** How this user's requests in this namespace are looked at. */
export function applierOf(user: UserInfo, namespace: string, delegation: Delegation): Applier {
  if (!delegation.appliers.includes(user.username)) return { user, subject: user, as: undefined }
  const subject = serviceAccount(namespace, delegation.account)
  return { user, subject, as: subject.username }
}

/**
 * The account of that user name. Undefined where it is none of this namespace: a stamp that names such a one was
 * made by a forger.
 */
export function accountNamed(username: string, namespace: string): UserInfo | undefined {
  const prefix = serviceAccount(namespace, '').username
  const name = username.startsWith(prefix) ? username.slice(prefix.length) : ''
  return name === '' || name.includes(':') ? undefined : serviceAccount(namespace, name)
}
