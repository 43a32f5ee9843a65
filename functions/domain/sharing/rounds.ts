/** What owners wait for, in rounds. */
export interface Rounds<T> {
  readonly add: (owner: string, one: T) => void
  /** Removes and returns the next: of another owner than the last one where others wait, the oldest of theirs. */
  readonly next: () => T | undefined
  readonly isEmpty: () => boolean
  /** How many owners wait. */
  readonly owners: () => number
}

/** Begins with none. Whoever adds one waits for one of each of the others, however many these have added. */
export function makeRounds<T>(): Rounds<T> {
  // In the order of their next turn.
  const waiting = new Map<string, T[]>()
  return {
    add(owner, one) {
      const own = waiting.get(owner) ?? []
      // Not copied: very many may wait.
      own.push(one)
      waiting.set(owner, own)
    },
    next() {
      const [first] = waiting
      if (first === undefined) return undefined
      const [owner, own] = first
      const one = own.shift()
      waiting.delete(owner)
      if (own.length > 0) waiting.set(owner, own)
      return one
    },
    isEmpty: () => waiting.size === 0,
    owners: () => waiting.size,
  }
}
