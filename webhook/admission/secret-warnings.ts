import type { Cluster, Secret } from '../../functions/cluster/cluster.ts'
import { loginFor } from '../../functions/domain/credentials/login-for.ts'
import {
  requirePathAllowed,
  requireRepositoryAllowed,
} from '../../functions/domain/credentials/secret-binding.ts'
import { Failure } from '../../functions/domain/failure.ts'
import type { SecretRights } from '../../functions/domain/gate/secrets.ts'
import type { Parsed } from '../../functions/domain/schema/parse.ts'
import type { Credentials } from '../../functions/domain/resource/resource.ts'

/** A resource without errors, before it is stored. */
type Sound = Extract<Parsed, { readonly sound: true }>

/** Where its Secrets are, and what the judged subject may do with them. */
export interface SecretsInSight {
  readonly namespace: string
  readonly secretRights: SecretRights
}

const FIELDS = ['credentials', 'fallbackCredentials'] as const

/**
 * What a faultless resource's Secrets will come to: one is not there, lacks a key, holds a private key that cannot be
 * read, or does not cover repository or path. It may still be mended, so these are warnings. Looked at only where the
 * judged subject may `get` the Secret, and the webhook may as well: otherwise nothing is said. The subject of a
 * delegated applier is its account, so that one sees what its account may, whatever it may itself. Throws what else
 * the cluster throws.
 */
export async function secretWarnings(
  parsed: Sound,
  { namespace, secretRights }: SecretsInSight,
  cluster: Pick<Cluster, 'readSecret'>,
): Promise<readonly string[]> {
  const fields = FIELDS.filter((field) => secretRights[`spec.${field}`] === 'get')
  if (fields.length === 0) return []
  const looked = fields.map(async (field) => {
    const credentials = parsed.spec[field]
    if (credentials === undefined) return []
    const secret = await cluster.readSecret(namespace, credentials.secretName).catch(asFailure)
    const failures =
      secret instanceof Failure ? absence(secret) : await complaintsOf(parsed, credentials, secret)
    return failures.map(({ message }) => `spec.${field}: ${message}`)
  })
  return (await Promise.all(looked)).flat()
}

function absence(failure: Failure): readonly Failure[] {
  if (failure.reason === 'ReferenceNotFound') return [failure]
  if (failure.reason === 'ReferenceForbidden') return []
  throw failure
}

async function complaintsOf(
  { kind, spec, target }: Sound,
  credentials: Credentials,
  secret: Secret,
): Promise<readonly Failure[]> {
  const path = kind === 'GitCommit' ? spec.resourceRef.path : undefined
  const checks: readonly (() => unknown)[] = [
    ...target.called.map((address) => () => requireRepositoryAllowed(secret, address, { right: 'get' })),
    () => loginFor(target.calls, { target, credentials, operatorHostKeys: undefined }, secret),
    () => path !== undefined && requirePathAllowed(path, secret),
  ]
  const failures = await Promise.all(checks.map(failureOf))
  // Only the function knows which host keys the operator has given.
  return failures.flatMap((failure) => (failure?.reason === 'HostKeyUnknown' ? [] : (failure ?? [])))
}

async function failureOf(check: () => unknown): Promise<Failure | undefined> {
  try {
    await check()
    return undefined
  } catch (error) {
    return asFailure(error)
  }
}

function asFailure(error: unknown): Failure {
  if (error instanceof Failure) return error
  throw error
}
