import { setTimeout as pause } from 'node:timers/promises'
import { Failure } from '../domain/failure.ts'

/** The API servers of one cluster each learn of a new RoleBinding some milliseconds after it was stored. */
const SETTLING_MS = 1_000

/** Asks, and throws ReferenceForbidden where a right is lacking. */
export type Ask<T> = () => Promise<T>

/** Is it a right of Commitlet's own account that is lacking? */
export function accountLacks({ reason, retry }: Failure): boolean {
  return reason === 'ReferenceForbidden' && retry === 'slow'
}

/** Is it anybody's right that is lacking: the account's, or that of the one who is asked about? */
export function anybodyLacks({ reason }: Failure): boolean {
  return reason === 'ReferenceForbidden'
}

/**
 * Asks, and where a right is lacking, asks once more a second later: a right that was granted by the same
 * `kubectl apply` as the resource may not count yet, or not at the API server that happened to answer. Throws what
 * the second asking throws; Timeout where the signal fires before it.
 */
export async function retryForbidden<T>(
  ask: Ask<T>,
  lacks: (failure: Failure) => boolean,
  signal: AbortSignal,
): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    if (!(error instanceof Failure) || !lacks(error)) throw error
  }
  await pause(SETTLING_MS, undefined, { signal }).catch((cause: unknown) => {
    const message =
      'The time of the attempt ran out while it waited for a right that may have been granted just now; it is tried again.'
    throw new Failure('Timeout', message, { cause })
  })
  return ask()
}
