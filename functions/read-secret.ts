import type { Authorised } from './authorise.ts'
import type { Secret } from './cluster/cluster.ts'
import { accountLacks, settledRights } from './cluster/settling-rights.ts'
import { parseRepositoryAddress } from './domain/address.ts'
import type { RepositoryAddress } from './domain/address.ts'
import { Failure } from './domain/failure.ts'
import type { Resource } from './domain/resources.ts'
import { requireRepositoryAllowed, unusableSecret } from './domain/secret-binding.ts'
import type { SecretUser } from './domain/secret-binding.ts'
import type { World } from './world.ts'

/** Which Secret is read, for whom, and where its values are to go. */
export interface SecretRequest {
  readonly namespace: string
  readonly name: string
  readonly user: SecretUser
  readonly address: RepositoryAddress
}

/** The part of a resource that names its Secret. */
export interface Naming {
  readonly metadata: Pick<Resource['metadata'], 'namespace'>
  readonly spec: Pick<Resource['spec'], 'repository' | 'credentials'>
}

/**
 * The request for the Secret of `spec.credentials`, in the name of whoever was authorised. Throws Internal where
 * none is named or no right to it was found: the API server would take an empty name for all Secrets.
 */
export function secretRequestOf(
  { spec, metadata }: Naming,
  { requester, verdict }: Authorised,
): SecretRequest {
  const name = spec.credentials?.secretName
  const right = verdict.secretRights['spec.credentials']
  if (name === undefined || name === '' || right === undefined) {
    const message =
      'No right to the Secret of spec.credentials was found; whoever runs Commitlet has to look.'
    throw new Failure('Internal', message)
  }
  const user = right === 'get' ? { right } : { right, username: requester.subject.username }
  return { namespace: metadata.namespace, name, user, address: parseRepositoryAddress(spec.repository) }
}

/**
 * Reads a Secret that may go to this repository for this user. Throws ReferenceForbidden where it may not, and what
 * the cluster throws; whoever may not read the Secret does not learn whether it is there.
 */
export async function readSecret(
  request: SecretRequest,
  { cluster }: Pick<World, 'cluster'>,
  signal: AbortSignal,
): Promise<Secret> {
  const { namespace, name, user, address } = request
  const read = (): Promise<Secret> => cluster.readSecret(namespace, name)
  const secret = await settledRights(read, accountLacks, signal).catch((error: unknown) => {
    const missing = error instanceof Failure && error.reason === 'ReferenceNotFound'
    if (!missing || user.right === 'get') throw error
    throw new Failure('ReferenceForbidden', unusableSecret({ namespace, name }, user.username))
  })
  requireRepositoryAllowed(secret, address, user)
  return secret
}
