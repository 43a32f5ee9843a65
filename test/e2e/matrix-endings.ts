import type { ValueName } from './matrix-values.ts'

/** A Secret by its type (default Opaque) and what its keys hold. */
export interface MatrixSecret {
  readonly type?: string
  readonly keys: Readonly<Record<string, ValueName>>
}

/** One form of credentials, at one kind of address, in one state, and what the user reads. */
export interface MatrixCase {
  readonly credentials: string
  readonly address: 'https' | 'ssh'
  readonly state: string
  /** Members of spec.credentials beside secretName; undefined: the operator's default. */
  readonly keys?: Readonly<Record<string, string>>
  /** Absent: there is none. */
  readonly secret?: MatrixSecret
  /** For spec.fallbackCredentials, with the keys of the first. */
  readonly fallback?: MatrixSecret
  /** The repository does not exist: SSH servers say the same of one that is not visible. */
  readonly absent?: boolean
  /** `refused`: kubectl apply says it, and nothing is stored. */
  readonly reason: string
  /** status.credentialsUsed, where it ended well. */
  readonly used?: 'Primary' | 'Fallback' | 'Default'
  /**
   * The whole message. URL is the address, SECRET and FALLBACK the Secrets' `namespace/name`, SHA the commit, PATH the
   * file, USER, HOST, HOSTNAME and PORT parts of an SSH address, KEY, HOSTKEY and YESTERDAY fingerprints.
   */
  readonly says: string
}

/** How an attempt ends, and what it says. */
export type Ending = Pick<MatrixCase, 'reason' | 'says'>

export const SUCCEEDED = {
  reason: 'Succeeded',
  says: 'Committed as SHA to the branch main at PATH.',
} as const
export const UNAUTHORISED = {
  reason: 'AuthenticationFailed',
  says: 'URL does not accept the user name and token or password (401); put valid ones into the Secret.',
} as const
export const READ_ONLY = {
  reason: 'PermissionDenied',
  says: 'URL knows the user but does not permit this (403); give the token write access, and check whether the repository is archived.',
} as const
export const NO_SECRET = {
  reason: 'ReferenceNotFound',
  says: 'There is no Secret SECRET; create it, or fix its name in the spec.',
} as const
export const OTHER_HOST_KEY = {
  reason: 'HostKeyMismatch',
  says: 'URL shows the host key HOSTKEY (ssh-ed25519), but known_hosts has YESTERDAY for it; someone may intercept the connection, or the host has a new key: compare it with what the host publishes before you change the entry.',
} as const

/** A named or default key that is not in the Secret, as the sentence calls it. */
export function lacks(key: string): Ending {
  const says = `The Secret SECRET has no key ${key}; add it, or name another in spec.credentials.`
  return { reason: 'CredentialsInvalid', says }
}
