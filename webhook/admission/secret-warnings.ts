import type { Cluster, Secret, SecretReader } from '../../functions/cluster/cluster.ts'
import { writtenPaths } from '../../functions/domain/commit/written-paths.ts'
import { WITHOUT_TOKEN } from '../../functions/domain/credentials/app-login.ts'
import { loginFor } from '../../functions/domain/credentials/login-for.ts'
import {
  requirePathsAllowed,
  requireRepositoryAllowed,
} from '../../functions/domain/credentials/secret-binding.ts'
import { Failure } from '../../functions/domain/failure.ts'
import type { SecretRights } from '../../functions/domain/gate/secrets.ts'
import type { Parsed } from '../../functions/domain/schema/parse.ts'
import { secretSigner } from '../../functions/domain/signing/signing-secret.ts'

/** A resource without errors, before it is stored. */
type Sound = Extract<Parsed, { readonly sound: true }>

/** The namespace of the Secrets, and what the judged subject may do with them. */
export interface SecretAccess {
  readonly namespace: string
  readonly secretRights: SecretRights
}

/** Reads and checks them. */
export interface SecretChecks extends SecretReader {
  readonly cluster: Pick<Cluster, 'readSecret'>
}

const FIELDS = ['credentials', 'fallbackCredentials', 'signing'] as const

/**
 * Warnings about the Secrets of a resource without errors: a Secret is missing, lacks a key, has a private key that
 * cannot be read, or does not allow the repository or the path. These are warnings because the user may still fix the
 * Secret. A Secret is only read if both the judged subject and the webhook may `get` it; otherwise there is no warning.
 * The judged subject of a delegated applier is its account, whatever the applier itself may read. Throws what else the
 * cluster and `inTurn` throw.
 */
export async function secretWarnings(
  parsed: Sound,
  { namespace, secretRights }: SecretAccess,
  { cluster, signal, inTurn }: SecretChecks,
): Promise<readonly string[]> {
  const fields = FIELDS.filter((field) => secretRights[`spec.${field}`] === 'get')
  if (fields.length === 0) return []
  const warnings = fields.map(async (field) => {
    const use = useOf(parsed, field)
    if (use === undefined) return []
    const secret = await cluster.readSecret(namespace, use.secretName, { signal, inTurn }).catch(asFailure)
    const failures =
      secret instanceof Failure ? unreadable(secret) : await problemsOf(checksOf(parsed, use, secret), inTurn)
    return failures.map(({ message }) => `spec.${field}: ${message}`)
  })
  return (await Promise.all(warnings)).flat()
}

/** What a Secret is named for, and the check whether it can be used for that. */
interface Use {
  readonly secretName: string
  readonly check: (secret: Secret) => unknown
}

function useOf({ kind, spec, target }: Sound, field: (typeof FIELDS)[number]): Use | undefined {
  if (field === 'signing') {
    const signing = kind === 'GitCommit' ? spec.signing : undefined
    // Only the function knows the committer.
    return signing && { ...signing, check: (secret) => secretSigner(signing, secret, undefined) }
  }
  const credentials = spec[field]
  if (credentials === undefined) return undefined
  const use = { target, credentials, operatorHostKeys: undefined, tokenFor: WITHOUT_TOKEN }
  return { ...credentials, check: (secret) => loginFor(target.calls, use, secret) }
}

function unreadable(failure: Failure): readonly Failure[] {
  if (failure.reason === 'ReferenceForbidden') return []
  // A failure that other credentials could help with is one of this Secret.
  if (failure.fallback) return [failure]
  throw failure
}

function checksOf({ spec, target }: Sound, use: Use, secret: Secret): readonly (() => unknown)[] {
  return [
    ...target.called.map((address) => () => requireRepositoryAllowed(secret, address, { right: 'get' })),
    () => use.check(secret),
    () => requirePathsAllowed(writtenPaths(spec), secret),
  ]
}

async function problemsOf(
  checks: readonly (() => unknown)[],
  inTurn: SecretChecks['inTurn'],
): Promise<readonly Failure[]> {
  const failures = await Promise.all(checks.map((check) => inTurn(() => failureOf(check))))
  // Only the function knows the operator's host keys.
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
