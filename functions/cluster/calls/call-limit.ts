/** A signal with a time limit. */
export interface Limited {
  readonly signal: AbortSignal
  /** It is not needed any more, and will not fire: leaves neither a listener nor a timer. */
  readonly release: () => void
}

/**
 * Fires when the first of these signals does, with its reason, or with a TimeoutError after so many milliseconds. For what is done
 * hundreds of times a second: `AbortSignal.timeout` keeps its timer until that time.
 */
export function limited(signals: readonly AbortSignal[], milliseconds: number): Limited {
  const ending = new AbortController()
  const timer = setTimeout(
    () => ending.abort(new DOMException('The time is over.', 'TimeoutError')),
    milliseconds,
  ).unref()
  function abort(): void {
    ending.abort(signals.find(({ aborted }) => aborted)?.reason)
  }
  for (const signal of signals) signal.addEventListener('abort', abort, { once: true })
  if (signals.some(({ aborted }) => aborted)) abort()
  return {
    signal: ending.signal,
    release() {
      clearTimeout(timer)
      for (const signal of signals) signal.removeEventListener('abort', abort)
    },
  }
}
