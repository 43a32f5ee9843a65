import type { Authorised } from './authorise.ts'
import type { Secret } from '../cluster/cluster.ts'
import { isAccountRefused, retryForbidden } from '../cluster/rbac-retry.ts'
import type { RepositoryAddress } from '../domain/repository/address.ts'
import { calledAddresses } from '../domain/repository/api-endpoint.ts'
import { Failure } from '../domain/failure.ts'
import type { Credentials, Resource } from '../domain/resource/resource.ts'
import { requireRepositoryAllowed, unboundSecret } from '../domain/credentials/secret-binding.ts'
import type { SecretUser } from '../domain/credentials/secret-binding.ts'
import type { World } from '../world.ts'

/** Which field names the Secret. */
export interface SecretField {
  readonly field: 'spec.credentials' | 'spec.fallbackCredentials'
  readonly credentials: Pick<Credentials, 'secretName'>
}

/** Of which resource, in whose name, and where its values are to go. */
export interface SecretRequest {
  readonly resource: {
    readonly kind: Resource['kind']
    readonly metadata: Pick<Resource['metadata'], 'namespace'>
  }
  readonly authorised: Authorised
  readonly address: RepositoryAddress
  readonly signal: AbortSignal
}

/**
 * Reads a Secret that may go to this repository for whoever was authorised. Throws ReferenceForbidden where it may
 * not, and what the cluster throws; whoever may not read the Secret does not learn whether it is there.
 */
export async function readSecret(
  { field, credentials }: SecretField,
  { resource, authorised, address, signal }: SecretRequest,
  { cluster }: Pick<World, 'cluster'>,
): Promise<Secret> {
  const named = { namespace: resource.metadata.namespace, name: credentials.secretName }
  const user = userOf(field, named.name, authorised)
  const read = (): Promise<Secret> => cluster.readSecret(named.namespace, named.name)
  const secret = await retryForbidden(read, isAccountRefused, signal).catch((error: unknown) => {
    const missing = error instanceof Failure && error.reason === 'ReferenceNotFound'
    if (!missing || user.right === 'get') throw error
    throw unboundSecret(named, user.username)
  })
  requireSecretAllowed(secret, { field, credentials }, { resource, authorised, address })
  return secret
}

/** Throws ReferenceForbidden where a Secret that was read may not go to another repository, which `address` names. */
export function requireSecretAllowed(
  secret: Secret,
  { field, credentials }: SecretField,
  { resource, authorised, address }: Omit<SecretRequest, 'signal'>,
): void {
  const user = userOf(field, credentials.secretName, authorised)
  for (const called of calledAddresses(resource.kind, address)) requireRepositoryAllowed(secret, called, user)
}

// The API server would take an empty name for all Secrets.
function userOf(field: SecretField['field'], name: string, { requester, verdict }: Authorised): SecretUser {
  const right = verdict.secretRights[field]
  if (name !== '' && right !== undefined) {
    return right === 'get' ? { right } : { right, username: requester.subject.username }
  }
  throw new Failure(
    'Internal',
    `No right to the Secret of ${field} was found; whoever runs Commitlet has to look.`,
  )
}
