import type { Cluster, Secret } from '../functions/cluster/cluster.ts'
import { parseRepositoryAddress } from '../functions/domain/address.ts'
import { loginFor } from '../functions/domain/credentials.ts'
import { Failure } from '../functions/domain/failure.ts'
import type { Verdict } from '../functions/domain/gate.ts'
import { isRecord, member } from '../functions/domain/member.ts'
import { parseResource } from '../functions/domain/parse.ts'
import type { Resource } from '../functions/domain/resources.ts'
import { requirePathAllowed, requireRepositoryAllowed } from '../functions/domain/secret-binding.ts'
import type { AdmissionRequest } from './review.ts'

/**
 * What a faultless resource's Secret will come to: it is not there, lacks a key, or does not cover repository or
 * path. It may still be mended, so these are warnings. Looked at only where the judged subject may `get` the Secret,
 * and the webhook may as well: otherwise nothing is said. The subject of a delegated applier is its account, so that
 * one sees what its account may, whatever it may itself. Throws what else the cluster throws.
 */
export async function secretWarnings(
  request: AdmissionRequest,
  { secretRights }: Verdict,
  cluster: Pick<Cluster, 'readSecret'>,
): Promise<readonly string[]> {
  if (secretRights['spec.credentials'] !== 'get') return []
  const resource = resourceOf(request)
  const name = resource.spec.credentials?.secretName
  if (name === undefined) return []
  const secret = await cluster.readSecret(request.namespace, name).catch(asFailure)
  if (!(secret instanceof Failure)) return complaintsOf(resource, secret)
  if (secret.reason === 'ReferenceNotFound') return [warning(secret)]
  if (secret.reason === 'ReferenceForbidden') return []
  throw secret
}

/** /validate sees the final object before it is stored: all of it but the resourceVersion. */
function resourceOf({ object }: AdmissionRequest): Resource {
  const metadata = member(object, 'metadata')
  return parseResource({
    ...(isRecord(object) ? object : {}),
    metadata: { resourceVersion: 'none yet', ...(isRecord(metadata) ? metadata : {}) },
  })
}

function complaintsOf(resource: Resource, secret: Secret): readonly string[] {
  const address = parseRepositoryAddress(resource.spec.repository)
  const checks = [
    () => requireRepositoryAllowed(secret, address, { right: 'get' }),
    () => address.scheme === 'https' && loginFor(resource.spec, secret, address),
    () => resource.kind === 'GitCommit' && requirePathAllowed(resource.spec.resourceRef.path, secret),
  ]
  return checks.flatMap((check) => {
    try {
      check()
      return []
    } catch (error) {
      return [warning(asFailure(error))]
    }
  })
}

function warning(failure: Failure): string {
  return `spec.credentials: ${failure.message}`
}

function asFailure(error: unknown): Failure {
  if (error instanceof Failure) return error
  throw error
}
