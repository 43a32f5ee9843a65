import { Failure } from '../domain/failure.ts'
import type { FailureReason } from '../domain/failure.ts'

/** A way to log in, by the name under which the status tells of it. */
export interface Way {
  readonly used: 'Primary' | 'Fallback' | 'Default'
}

/** What the second way may mend. What the network, a limit or the repository's rules refuse, it may not. */
const MENDABLE: readonly FailureReason[] = [
  'CredentialsInvalid',
  'ReferenceNotFound',
  'AuthenticationFailed',
  'PermissionDenied',
  'RepositoryNotFound',
]

/**
 * Goes the first way, and where its credentials fail the second one, once. `go` fails with ReferenceNotFound for a
 * missing Secret only. Throws the first way's reason with both causes where both fail; a bug as it is.
 */
export async function withFallback<W extends Way, T>(
  [first, second]: readonly [W, W?],
  go: (way: W) => Promise<T>,
): Promise<{ readonly result: T; readonly used: Way['used'] }> {
  try {
    return { result: await go(first), used: first.used }
  } catch (error) {
    if (second === undefined || !(error instanceof Failure) || !MENDABLE.includes(error.reason)) throw error
    return { result: await go(second).catch((other: unknown) => bothFailed(error, other)), used: second.used }
  }
}

function bothFailed(first: Failure, second: unknown): never {
  if (!(second instanceof Failure)) throw second
  const { retryAfterSeconds } = second
  const message = `${first.message} The fallback credentials failed, too (${second.reason}): ${second.message}`
  throw new Failure(first.reason, message, {
    cause: second,
    retry: retryOf(first, second),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  })
}

// What goes by by itself is worth another look soon, whichever way it stands in.
function retryOf(first: Failure, second: Failure): Failure['retry'] {
  return second.retry === 'transient' ? 'transient' : first.retry
}
