/**
 * Fires after so many milliseconds, with a TimeoutError, and keeps no process alive. For what other signals are made of, of which
 * others are made: of an AbortSignal.timeout, AbortSignal.any never lets go of those in between (Node 24.21).
 */
export function timeLimit(milliseconds: number): AbortSignal {
  const limit = new AbortController()
  setTimeout(() => limit.abort(new DOMException('The time is over.', 'TimeoutError')), milliseconds).unref()
  return limit.signal
}
