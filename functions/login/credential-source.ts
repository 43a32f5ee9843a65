import type { LoginOf } from '../domain/credentials/login.ts'
import type { WrittenPath } from '../domain/repository/committed-path.ts'
import type { Calls, Target } from '../domain/repository/target.ts'
import type { Credentials, RemoteSpec } from '../domain/spec/spec.ts'

/** Where credentials come from: one of the spec's two Secrets, or the operator's default credentials. */
export type CredentialSource = { readonly used: 'Default' } | SecretSource

export interface SecretSource {
  readonly used: 'Primary' | 'Fallback'
  readonly field: 'spec.credentials' | 'spec.fallbackCredentials'
  readonly credentials: Credentials
}

/** The sources that a spec names, in order: the second is used if the credentials of the first fail. */
export function sourcesOf({
  credentials,
  fallbackCredentials,
}: RemoteSpec): readonly [CredentialSource] | readonly [CredentialSource, CredentialSource] {
  if (credentials === undefined) return [{ used: 'Default' }]
  const primary = { used: 'Primary', field: 'spec.credentials', credentials } as const
  if (fallbackCredentials === undefined) return [primary]
  return [primary, { used: 'Fallback', field: 'spec.fallbackCredentials', credentials: fallbackCredentials }]
}

/** Credentials that were read, and the check of where they may be used. */
export interface BoundCredentials {
  /**
   * Throws ReferenceForbidden if they may not be used for this repository or may not write one of these paths.
   */
  readonly requireAllowed: (target: Target, written: readonly WrittenPath[]) => void
  /** The login for Git or for the API. Rejects with CredentialsInvalid if they cannot be used. */
  readonly loginFor: <C extends Calls>(calls: C, target: Target) => Promise<LoginOf[C]>
}
