import { Failure } from './failure.ts'

/**
 * The reason of a signal that only ends what goes on beside a work, with that work. `abort()` would make a new one each time, which takes
 * 8 µs (Node 24.21), and 1 µs is all that the rest of the call takes.
 */
export const OVER = new DOMException('The work has ended.', 'AbortError')

/**
 * The result of `work`, unless the signal fires first: then it throws the signal's reason if that is a Failure, else
 * what `late` makes of the reason (by default the reason itself). The work then continues, and its result is ignored.
 * No listener is left on the signal.
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

/** Throws once the signal has fired: its reason if that is a Failure, else what `late` makes of the reason. */
export function requireTime({ aborted, reason }: AbortSignal, late: (reason: unknown) => Failure): void {
  if (aborted) throw reason instanceof Failure ? reason : late(reason)
}

/** Keeps what a signal is made of in memory for as long as that signal. */
const sources = new WeakMap<AbortSignal, readonly AbortSignal[]>()

/**
 * Fires when the first of these signals does, with its reason; of one, it is that one. Takes the place of AbortSignal.any, whose signal
 * finds out whether it has fired only when it is asked, from those that it is made of, and keeps none of them in memory: where one
 * fires and is collected before that, it never has (Node 24.21).
 */
export function anySignal(signals: readonly AbortSignal[]): AbortSignal {
  const [first, ...others] = signals
  if (first !== undefined && others.length === 0) return first
  const signal = AbortSignal.any([...signals])
  sources.set(signal, signals)
  return signal
}
