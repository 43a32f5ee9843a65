import type { RepositoryAddress } from './domain/address.ts'
import type { Secret } from './cluster/cluster.ts'
import { accountLacks, settledRights } from './cluster/settling-rights.ts'
import { Failure } from './domain/failure.ts'
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
