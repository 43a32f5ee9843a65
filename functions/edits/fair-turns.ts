/** Runs `work` when it is the owner's turn. Rejects with the signal's reason if it fires before. */
export type FairTurns = <T>(owner: string, signal: AbortSignal, work: () => Promise<T>) => Promise<T>

type Start = () => void

/**
 * Runs one work at a time; the owners take turns, however much each of them has to do. An owner who has nothing to do takes
 * no memory.
 */
export function openFairTurns(): FairTurns {
  // In the order of their next turn.
  const waiting = new Map<string, readonly Start[]>()
  let isBusy = false

  function startNext(): void {
    const [next] = waiting
    isBusy = next !== undefined
    if (next === undefined) return
    const [owner, [start, ...rest]] = next
    waiting.delete(owner)
    if (rest.length > 0) waiting.set(owner, rest)
    start?.()
  }

  async function wait(owner: string, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<undefined>()
    const start = (): void => resolve(undefined)
    waiting.set(owner, [...(waiting.get(owner) ?? []), start])
    function giveUp(): void {
      const rest = (waiting.get(owner) ?? []).filter((other) => other !== start)
      if (rest.length > 0) waiting.set(owner, rest)
      else waiting.delete(owner)
      reject(signal.reason)
    }
    signal.addEventListener('abort', giveUp, { once: true })
    try {
      await promise
    } finally {
      signal.removeEventListener('abort', giveUp)
    }
  }

  return async function inTurn(owner, signal, work) {
    signal.throwIfAborted()
    if (isBusy) await wait(owner, signal)
    isBusy = true
    try {
      return await work()
    } finally {
      startNext()
    }
  }
}
