import { setTimeout as pause } from 'node:timers/promises'
import { Failure } from '../domain/failure.ts'
import type { Cluster } from './cluster.ts'

/** Longest delay, usually milliseconds, until one API server knows a RoleBinding that another one has stored. */
const RBAC_DELAY_MS = 1_000

/** Whether the API server refused Commitlet's own service account. */
export function isAccountRefused({ accountRefused }: Failure): boolean {
  return accountRefused
}

/** Whether the service account or the requester lacks a right. */
export function isForbidden({ reason }: Failure): boolean {
  return reason === 'ReferenceForbidden'
}

/** Whom to ask again, and until when. */
export interface AskedAgain {
  readonly cluster: Pick<Cluster, 'knowsRights'>
  readonly signal: AbortSignal
}

/**
 * Calls `run`, and if it fails because a right is missing, calls it again one second later: a right that was granted by
 * the same `kubectl apply` as the resource may not be in effect yet, or not at the API server that answered. Throws what
 * the second call throws; Timeout if the signal fires before it; and ProviderUnavailable if the API server did not know all rights
 * then, so that the right may be one of these.
 */
export async function retryForbidden<T>(
  run: () => Promise<T>,
  mayRetry: (failure: Failure) => boolean,
  { cluster, signal }: AskedAgain,
): Promise<T> {
  const isDenied = (error: unknown): boolean => error instanceof Failure && mayRetry(error)
  try {
    return await run()
  } catch (error) {
    if (!isDenied(error)) throw error
  }
  await pause(RBAC_DELAY_MS, undefined, { signal }).catch((cause: unknown) => {
    const message =
      'The attempt ran out of time while it waited for a right that may have just been granted; Commitlet retries automatically.'
    throw new Failure('Timeout', message, { cause })
  })
  // Asked first: it may know them between both.
  const knewRights = await cluster.knowsRights()
  try {
    return await run()
  } catch (error) {
    throw isDenied(error) && !knewRights ? unknownRights(error) : error
  }
}

/** What writes and reads a resource that has our claim. */
export type ClaimCalls = Pick<Cluster, 'patchStatus' | 'readResource'>

/**
 * The same calls, with ProviderUnavailable where they refuse Commitlet's own account, with whose rights the claim was written: where
 * these are gone for good, no result can be written, either.
 */
export function withClaimRights({ patchStatus, readResource }: ClaimCalls): ClaimCalls {
  async function known<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await call()
    } catch (error) {
      throw error instanceof Failure && isAccountRefused(error) ? unknownRights(error) : error
    }
  }
  return {
    patchStatus: (resource, status) => known(() => patchStatus(resource, status)),
    readResource: (ref) => known(() => readResource(ref)),
  }
}

// It reviews access while it still reads the RoleBindings, of which a cluster may have thousands.
function unknownRights(cause: unknown): Failure {
  const message =
    'The API server does not know all rights at the moment, because it has just started or an authoriser does not answer; Commitlet retries automatically.'
  return new Failure('ProviderUnavailable', message, { cause })
}
