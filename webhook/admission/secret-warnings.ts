import type { Cluster, Secret } from '../../functions/cluster/cluster.ts'
import { parseRepositoryAddress } from '../../functions/domain/repository/address.ts'
import { apiLogin } from '../../functions/domain/credentials/api-login.ts'
import { calledAddresses } from '../../functions/domain/repository/api-endpoint.ts'
import { passwordLogin } from '../../functions/domain/credentials/password-login.ts'
import type { LoginRequest } from '../../functions/domain/credentials/password-login.ts'
import { Failure } from '../../functions/domain/failure.ts'
import type { Verdict } from '../../functions/domain/gate/gate.ts'
import { keyLogin } from '../../functions/domain/credentials/key-login.ts'
import { isRecord, member } from '../../functions/domain/json-value.ts'
import { parseResource } from '../../functions/domain/schema/parse.ts'
import type { Credentials, Resource } from '../../functions/domain/resource/resource.ts'
import {
  requirePathAllowed,
  requireRepositoryAllowed,
} from '../../functions/domain/credentials/secret-binding.ts'
import type { AdmissionRequest } from './review.ts'

const FIELDS = ['credentials', 'fallbackCredentials'] as const

/**
 * What a faultless resource's Secrets will come to: one is not there, lacks a key, holds a private key that cannot be
 * read, or does not cover repository or path. It may still be mended, so these are warnings. Looked at only where the
 * judged subject may `get` the Secret, and the webhook may as well: otherwise nothing is said. The subject of a
 * delegated applier is its account, so that one sees what its account may, whatever it may itself. Throws what else
 * the cluster throws.
 */
export async function secretWarnings(
  request: AdmissionRequest,
  { secretRights }: Verdict,
  cluster: Pick<Cluster, 'readSecret'>,
): Promise<readonly string[]> {
  const fields = FIELDS.filter((field) => secretRights[`spec.${field}`] === 'get')
  if (fields.length === 0) return []
  const resource = resourceOf(request)
  const looked = fields.map(async (field) => {
    const credentials = resource.spec[field]
    if (credentials === undefined) return []
    const secret = await cluster.readSecret(request.namespace, credentials.secretName).catch(asFailure)
    const failures = secret instanceof Failure ? absence(secret) : complaintsOf(resource, credentials, secret)
    return failures.map(({ message }) => `spec.${field}: ${message}`)
  })
  return (await Promise.all(looked)).flat()
}

/** /validate sees the final object before it is stored: all of it but the resourceVersion. */
function resourceOf({ object }: AdmissionRequest): Resource {
  const metadata = member(object, 'metadata')
  return parseResource({
    ...(isRecord(object) ? object : {}),
    metadata: { resourceVersion: 'none yet', ...(isRecord(metadata) ? metadata : {}) },
  })
}

function absence(failure: Failure): readonly Failure[] {
  if (failure.reason === 'ReferenceNotFound') return [failure]
  if (failure.reason === 'ReferenceForbidden') return []
  throw failure
}

function complaintsOf(resource: Resource, credentials: Credentials, secret: Secret): readonly Failure[] {
  const { repository, provider } = resource.spec
  const address = parseRepositoryAddress(repository)
  const request = { credentials, address, provider }
  // The API of a provider is called over HTTPS, also for a pull request of an SSH repository.
  const login = resource.kind === 'PullRequest' ? apiLogin : address.scheme === 'ssh' ? bySSH : passwordLogin
  const checks = [
    ...calledAddresses(resource.kind, address).map(
      (called) => () => requireRepositoryAllowed(secret, called, { right: 'get' }),
    ),
    () => login(request, secret),
    () => resource.kind === 'GitCommit' && requirePathAllowed(resource.spec.resourceRef.path, secret),
  ]
  return checks.flatMap((check) => {
    try {
      check()
      return []
    } catch (error) {
      const failure = asFailure(error)
      // Only the function knows which host keys the operator has given.
      return failure.reason === 'HostKeyUnknown' ? [] : [failure]
    }
  })
}

function bySSH(request: LoginRequest, secret: Secret): unknown {
  return keyLogin(request, secret, undefined)
}

function asFailure(error: unknown): Failure {
  if (error instanceof Failure) return error
  throw error
}
