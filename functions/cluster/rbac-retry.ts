import { setTimeout as pause } from 'node:timers/promises'
import { Failure } from '../domain/failure.ts'

/** How long an API server takes at most, mostly milliseconds, to learn of a RoleBinding that another one has stored. */
const RBAC_DELAY_MS = 1_000

/** Did the API server refuse Commitlet's own service account? */
export function isAccountRefused({ accountRefused }: Failure): boolean {
  return accountRefused
}

/** Does somebody lack a right: the service account or the requester? */
export function isForbidden({ reason }: Failure): boolean {
  return reason === 'ReferenceForbidden'
}

/**
 * Calls `run`, and where it fails for a right, once more a second later: a right that was granted by the same
 * `kubectl apply` as the resource may not be in effect yet, or not at the API server that happened to answer. Throws
 * what the second call throws; Timeout where the signal fires before it.
 */
export async function retryForbidden<T>(
  run: () => Promise<T>,
  mayRetry: (failure: Failure) => boolean,
  signal: AbortSignal,
): Promise<T> {
  try {
    return await run()
  } catch (error) {
    if (!(error instanceof Failure) || !mayRetry(error)) throw error
  }
  await pause(RBAC_DELAY_MS, undefined, { signal }).catch((cause: unknown) => {
    const message =
      'The time of the attempt ran out while it waited for a right that may have been granted just now; it is tried again.'
    throw new Failure('Timeout', message, { cause })
  })
  return run()
}
