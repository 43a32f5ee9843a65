/** At once: the pod's turns bound what the attempts cost. */
const MOST_AT_ONCE = 64
/** Of each owner, whatever the others have: with half of what is left each time, seven owners have all. */
const LEAST = 4

/** Starts work that may begin, a bounded number of each owner at once. */
export interface Woken {
  /** Starts the work, or keeps it until others have ended. It must not throw. */
  readonly start: (owner: string, work: () => Promise<void>) => void
  /** Forgets what has not begun, and resolves when the rest has ended. */
  readonly close: () => Promise<void>
}

/**
 * Owners take turns, and none takes more than it leaves, but each has four: a work may take as long as an attempt, and those of
 * some owners keep none of another waiting.
 */
export function makeWoken(): Woken {
  const waiting = new Map<string, (() => Promise<void>)[]>()
  const running = new Map<string, number>()
  const ends = new Set<Promise<void>>()
  let closed = false

  function startNext(): void {
    for (let owner = next(); owner !== undefined; owner = next()) begin(owner)
  }

  function next(): string | undefined {
    const most = Math.max(LEAST, MOST_AT_ONCE - ends.size)
    return [...waiting.keys()].find((owner) => (running.get(owner) ?? 0) < most)
  }

  function begin(owner: string): void {
    const queue = waiting.get(owner) ?? []
    const work = queue.shift()
    // Behind the other owners.
    waiting.delete(owner)
    if (queue.length > 0) waiting.set(owner, queue)
    if (work === undefined) return
    running.set(owner, (running.get(owner) ?? 0) + 1)
    const end = work().finally(() => {
      ends.delete(end)
      const left = (running.get(owner) ?? 1) - 1
      if (left === 0) running.delete(owner)
      else running.set(owner, left)
      startNext()
    })
    ends.add(end)
  }

  return {
    start(owner, work) {
      if (closed) return
      const queue = waiting.get(owner) ?? []
      // Not copied: very many may wait for one object.
      queue.push(work)
      waiting.set(owner, queue)
      startNext()
    },
    async close() {
      closed = true
      waiting.clear()
      await Promise.all(ends)
    },
  }
}
