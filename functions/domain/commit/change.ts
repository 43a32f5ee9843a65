import type { RepositoryAddress } from '../repository/address.ts'

export interface Identity {
  readonly name: string
  readonly email: string
}

/** One file to be written by one commit. Made once per attempt, never changed. */
export interface Change {
  readonly repository: RepositoryAddress
  /** Short name of the branch; undefined: the remote's default branch (`main` on an empty repository). */
  readonly branch: string | undefined
  readonly path: string
  readonly content: Uint8Array
  /** The whole message with its trailers. */
  readonly message: string
  /** Value of the trailer `Commitlet-Id`. */
  readonly id: string
  /** Author and committer. */
  readonly author: Identity
  /** Set when an earlier attempt may have pushed already: history since then is searched for `id` first. */
  readonly since?: Date
}

/** A change whose content is not at hand: enough to tell whether it has landed already. */
export type ChangeDraft = Omit<Change, 'content'>

/** How a change ended. `unchanged`: the branch held this content already, `sha` is its tip. */
export interface Landed {
  readonly outcome: 'pushed' | 'found' | 'unchanged'
  /** Full object name of the commit. */
  readonly sha: string
  /** Short name of the branch that was written. */
  readonly branch: string
}

/** What Git needs to log in at a remote. */
export type Login = PasswordLogin | KeyLogin

interface AnyLogin {
  /** Equal for the same credential, different otherwise; safe to keep in memory as a key, never logged. */
  readonly identity: string
  /** Every value of the Secret in use, the login's or not, to be taken out of text of the remote. */
  readonly secrets: readonly string[]
}

/** Over HTTPS; a token is a password, too. */
export interface PasswordLogin extends AnyLogin {
  readonly method: 'password'
  readonly username: string
  readonly password: string
}

/** Over SSH. */
export interface KeyLogin extends AnyLogin {
  readonly method: 'key'
  /** Text of the private key, not encrypted, in a form that ssh2 reads. */
  readonly privateKey: string
  /** Lines as in known_hosts(5) that hold for the remote's host and port. */
  readonly hostKeys: string
}
