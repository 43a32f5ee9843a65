/**
 * Fires after so many milliseconds, with a TimeoutError, and keeps no process alive. It takes the place of AbortSignal.timeout where a
 * signal is made of it, and others of that one: of an AbortSignal.timeout, Node keeps the one in between for good (Node 24.21).
 */
export function timeLimit(milliseconds: number): AbortSignal {
  const limit = new AbortController()
  setTimeout(() => limit.abort(new DOMException('The time is over.', 'TimeoutError')), milliseconds).unref()
  return limit.signal
}
