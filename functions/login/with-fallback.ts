import { Failure } from '../domain/failure.ts'

/** Where credentials come from, named as in the status. */
export interface Source {
  readonly used: 'Primary' | 'Fallback' | 'Default'
}

/**
 * Does the work with the first source. If it fails because of the credentials (see the table of reasons), does it once
 * with the second source. `work` may fail with ReferenceNotFound only for a missing Secret. If both fail, throws the
 * reason of the first with both causes; rethrows a bug unchanged.
 */
export async function withFallback<S extends Source, T>(
  [first, second]: readonly [S, S?],
  work: (source: S) => Promise<T>,
): Promise<{ readonly result: T; readonly used: Source['used'] }> {
  try {
    return { result: await work(first), used: first.used }
  } catch (error) {
    if (second === undefined || !(error instanceof Failure) || !error.fallback) throw error
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

// If either failure is transient, an attempt soon may succeed; so it may where only the second Secret is missing.
function retryOf(first: Failure, second: Failure): Failure['retry'] {
  if (first.retry === 'reference' && second.retry !== 'transient') return 'reference'
  return second.retry === 'transient' || second.retry === 'reference' ? 'transient' : first.retry
}
