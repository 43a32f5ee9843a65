import { Failure } from './failure.ts'

/**
 * What `work` comes to, unless the signal fires first: then a Failure that is the signal's reason, or else what
 * `late` makes of that reason (by default the reason itself). The work goes on then, and nobody hears of its end. No
 * listener is left on the signal.
 */
export async function unlessAborted<T>(
  work: Promise<T>,
  signal: AbortSignal,
  late: (reason: unknown) => unknown = (reason) => reason,
): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  function abort(): void {
    reject(signal.reason instanceof Failure ? signal.reason : late(signal.reason))
  }
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
  try {
    return await Promise.race([aborted, work])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
