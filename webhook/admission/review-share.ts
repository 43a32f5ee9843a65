/** Calls for the reviews of one namespace that are made at once. The API server is asked for 64 at once, for all of them. */
const MOST_AT_ONCE = 16

/** Asks once the namespace has less than its share under way. Rejects with the signal's reason if that has fired. */
export type ReviewShare = <T>(namespace: string, signal: AbortSignal, ask: () => Promise<T>) => Promise<T>

interface Line {
  running: number
  readonly waiting: (() => void)[]
}

/**
 * Shares the calls for access reviews, and for the kinds that they are about, among namespaces. One GitCommit may name a thousand objects, and dry runs cost their sender
 * nothing: without this, the reviews of a namespace that sends them keep those of all others waiting. A namespace without
 * reviews takes no memory.
 */
export function shareReviews(): ReviewShare {
  const lines = new Map<string, Line>()

  async function enter(namespace: string): Promise<Line> {
    const line = lines.get(namespace) ?? { running: 0, waiting: [] }
    lines.set(namespace, line)
    // The call that ends hands its place to the next one: `running` stays the same.
    if (line.running >= MOST_AT_ONCE) await new Promise<void>((begin) => line.waiting.push(begin))
    else line.running += 1
    return line
  }

  function leave(namespace: string, line: Line): void {
    const next = line.waiting.shift()
    if (next !== undefined) {
      next()
      return
    }
    line.running -= 1
    if (line.running === 0) lines.delete(namespace)
  }

  return async function inShare(namespace, signal, ask) {
    const line = await enter(namespace)
    try {
      signal.throwIfAborted()
      return await ask()
    } finally {
      leave(namespace, line)
    }
  }
}
