import { Failure } from '../domain/failure.ts'
import { REASONS } from '../domain/reasons.ts'

/** Where credentials come from, by the name under which the status tells of it. */
export interface Source {
  readonly used: 'Primary' | 'Fallback' | 'Default'
}

/**
 * Does the work with the first source, and where its credentials are to blame, as the table of reasons says, once with
 * the second one. `work` fails with ReferenceNotFound for a missing Secret only. Throws the reason of the first with
 * both causes where both fail; a bug as it is.
 */
export async function withFallback<S extends Source, T>(
  [first, second]: readonly [S, S?],
  work: (source: S) => Promise<T>,
): Promise<{ readonly result: T; readonly used: Source['used'] }> {
  try {
    return { result: await work(first), used: first.used }
  } catch (error) {
    if (second === undefined || !(error instanceof Failure) || !REASONS[error.reason].fallback) throw error
    return {
      result: await work(second).catch((other: unknown) => bothFailed(error, other)),
      used: second.used,
    }
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

// A transient failure of either is worth another attempt soon.
function retryOf(first: Failure, second: Failure): Failure['retry'] {
  return second.retry === 'transient' ? 'transient' : first.retry
}
