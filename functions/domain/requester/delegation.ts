import type { UserInfo } from './user-info.ts'
import { serviceAccount } from './user-info.ts'

/** GitOps controllers that apply what others wrote, and the account whose rights count instead of theirs. */
export interface Delegation {
  /** User names of the controllers. */
  readonly appliers: readonly string[]
  /** Name of the service account, in the resource's namespace, whose rights are reviewed. */
  readonly account: string
}

/** The user who applies, and whose rights count. */
export interface Applier {
  readonly user: UserInfo
  /** The user, or the account that is reviewed in place of a controller. */
  readonly subject: UserInfo
  /** User name of that account; undefined if the user is reviewed directly. */
  readonly as: string | undefined
}

/** Whose rights count for this user's requests in this namespace. */
export function applierOf(user: UserInfo, namespace: string, delegation: Delegation): Applier {
  if (!delegation.appliers.includes(user.username)) return { user, subject: user, as: undefined }
  const subject = serviceAccount(namespace, delegation.account)
  return { user, subject, as: subject.username }
}

/**
 * The service account with that user name. Undefined if it is not one of this namespace: a stamp that names such an
 * account is forged.
 */
export function accountNamed(username: string, namespace: string): UserInfo | undefined {
  const prefix = serviceAccount(namespace, '').username
  const name = username.startsWith(prefix) ? username.slice(prefix.length) : ''
  return name === '' || name.includes(':') ? undefined : serviceAccount(namespace, name)
}
