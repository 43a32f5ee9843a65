import { setTimeout as pause } from 'node:timers/promises'
import { Failure } from '../domain/failure.ts'

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

/**
 * Calls `run`, and if it fails because a right is missing, calls it again one second later: a right that was granted by
 * the same `kubectl apply` as the resource may not be in effect yet, or not at the API server that answered. Throws what
 * the second call throws, or Timeout if the signal fires before it.
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
      'The attempt ran out of time while it waited for a right that may have just been granted; Commitlet retries automatically.'
    throw new Failure('Timeout', message, { cause })
  })
  return run()
}
