import type { Authorised } from './authorise.ts'
import type { Secret, SecretReader } from '../cluster/cluster.ts'
import { isAccountRefused, isForbidden, retryForbidden } from '../cluster/rbac-retry.ts'
import type { Target } from '../domain/repository/target.ts'
import { Failure } from '../domain/failure.ts'
import { hasRight, SECRETS } from '../domain/gate/secrets.ts'
import type { Credentials } from '../domain/spec/spec.ts'
import { loginFor } from '../domain/credentials/login-for.ts'
import type { LoginUse } from '../domain/credentials/login-for.ts'
import {
  requirePathsAllowed,
  requireRepositoryAllowed,
  unboundSecret,
} from '../domain/credentials/secret-binding.ts'
import type { SecretUser } from '../domain/credentials/secret-binding.ts'
import type { BoundCredentials, SecretSource } from './credential-source.ts'
import { MISSING, UNREADABLE } from '../domain/resource/waiting.ts'
import type { Attempt, World } from '../world.ts'

/** The field of the spec that names the Secret. */
export interface SecretField {
  readonly field: SecretSource['field'] | 'spec.signing'
  readonly credentials: Pick<Credentials, 'secretName'>
}

/** The resource's namespace and requester, and the repository that the values are for. */
export interface SecretRequest {
  readonly namespace: string
  readonly authorised: Authorised
  readonly target: Target
  readonly signal: AbortSignal
  /** Told which version of the Secret was read. */
  readonly saw: Attempt['saw']
  /** Shows that the Secret is one of the namespace that the resource is in. */
  readonly stillThere: Attempt['stillThere']
}

/** Reads Secrets, and does what holds the thread in the share of their namespace: they may have 1 MiB. */
export type SecretWorld = Pick<World, 'cluster' | 'workFor'>

/**
 * Reads a Secret that the authorised requester may use for this repository. Throws ReferenceForbidden if they may not, or
 * may not any more, and what the cluster, `stillThere` and `workFor` throw. A requester who may not read the Secret does not learn
 * whether it exists.
 */
export async function readSecret(
  { field, credentials }: SecretField,
  { namespace, authorised, target, signal, saw, stillThere }: SecretRequest,
  { cluster, workFor }: SecretWorld,
): Promise<Secret> {
  const named = { namespace, name: credentials.secretName }
  const user = userOf(field, named.name, authorised)
  const inTurn: SecretReader['inTurn'] = (work) => workFor(namespace, work, signal)
  const read = (): Promise<Secret> => cluster.readSecret(namespace, named.name, { signal, inTurn })
  const secret = await retryForbidden(read, isAccountRefused, { cluster, signal }).catch(
    async (error: unknown) => {
      const version = error instanceof Failure ? await versionBehind(error) : undefined
      if (version === undefined) throw error
      saw(field, version)
      if (version === UNREADABLE || user.right === 'get') throw error
      throw unboundSecret(named, user.username)
    },
  )
  saw(field, secret.version)
  // The second Secret may be read minutes after the rights were reviewed: a host can delay its answer to the first log-in.
  const { subject } = authorised.requester
  const review: Parameters<typeof hasRight>[2] = (access) =>
    cluster.reviewAccess(subject, access, { namespace })
  const requireRight = async (): Promise<void> => {
    if (!(await hasRight(user.right, named, review))) throw unboundSecret(named, subject.username)
  }
  await retryForbidden(requireRight, isForbidden, { cluster, signal })
  // The namespace may have been deleted meanwhile, and made again by others: there the names mean other Secrets and accounts.
  await stillThere()
  await inTurn(() => requireTarget(secret, target, user))
  return secret

  /** What stands for the version of a Secret that could not be read; undefined where that may have nothing to do with it. */
  async function versionBehind(failure: Failure): Promise<string | undefined> {
    if (failure.reason === 'ReferenceNotFound') return MISSING
    if (isAccountRefused(failure)) return UNREADABLE
    if (failure.reason !== 'CredentialsInvalid') return undefined
    // It is too large to be read.
    return cluster.readVersion({ apiVersion: 'v1', kind: 'Secret', ...named }, SECRETS, { namespace, signal })
  }
}

/** The credentials in such a Secret. Throws what `readSecret` throws. */
export async function readSecretCredentials(
  source: SecretSource,
  request: SecretRequest,
  {
    cluster,
    workFor,
    settings,
    tokenFor,
  }: SecretWorld & Pick<World, 'settings'> & Pick<LoginUse, 'tokenFor'>,
): Promise<BoundCredentials> {
  const { field, credentials } = source
  const { namespace, signal } = request
  const secret = await readSecret(source, request, { cluster, workFor })
  const user = userOf(field, credentials.secretName, request.authorised)
  return {
    requireAllowed(target, written) {
      // That of the request was checked when the Secret was read: the list may be long.
      if (target !== request.target) requireTarget(secret, target, user)
      requirePathsAllowed(written, secret)
    },
    loginFor: async (calls, target) => {
      const use = { target, credentials, operatorHostKeys: settings.knownHosts, tokenFor }
      return workFor(namespace, () => loginFor(calls, use, secret), signal)
    },
  }
}

function requireTarget(secret: Secret, { called }: Target, user: SecretUser): void {
  for (const address of called) requireRepositoryAllowed(secret, address, user)
}

// With an empty name the API server would list all Secrets.
function userOf(field: SecretField['field'], name: string, { requester, verdict }: Authorised): SecretUser {
  const right = verdict.secretRights[field]
  if (name !== '' && right !== undefined) {
    return right === 'get' ? { right } : { right, username: requester.subject.username }
  }
  throw new Failure(
    'Internal',
    `No right to the Secret of ${field} was found; ask your Commitlet operator to check the log.`,
  )
}
