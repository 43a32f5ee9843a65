/** What owners wait for, in rounds. */
export interface Rounds<T> {
  readonly add: (owner: string, one: T) => void
  /** It waits no more. */
  readonly remove: (owner: string, one: T) => void
  /**
   * Removes and returns the next: of an owner with the lowest rank, of another one than the last where others of that rank wait,
   * the oldest of theirs.
   */
  readonly next: () => T | undefined
  /** Whose the next one would be. */
  readonly nextOwner: () => string | undefined
  readonly isEmpty: () => boolean
  /** How many owners wait. */
  readonly owners: () => number
  /** Whether this one waits. */
  readonly has: (owner: string) => boolean
}

/**
 * Begins with none. Whoever adds one waits for one of each of the others of the same rank, however many these have added. Default:
 * all have the same.
 */
export function makeRounds<T>(rankOf?: (owner: string) => number): Rounds<T> {
  // In the order of their next turn.
  const waiting = new Map<string, T[]>()

  function nextOwner(): string | undefined {
    const [first] = waiting.keys()
    if (first === undefined || rankOf === undefined) return first
    return [...waiting.keys()].reduce((least, one) => (rankOf(one) < rankOf(least) ? one : least))
  }

  return {
    add(owner, one) {
      const own = waiting.get(owner) ?? []
      // Not copied: very many may wait.
      own.push(one)
      waiting.set(owner, own)
    },
    remove(owner, one) {
      const left = (waiting.get(owner) ?? []).filter((other) => other !== one)
      if (left.length === 0) waiting.delete(owner)
      else waiting.set(owner, left)
    },
    next() {
      const owner = nextOwner()
      const own = owner === undefined ? undefined : waiting.get(owner)
      if (owner === undefined || own === undefined) return undefined
      const one = own.shift()
      waiting.delete(owner)
      if (own.length > 0) waiting.set(owner, own)
      return one
    },
    nextOwner,
    isEmpty: () => waiting.size === 0,
    owners: () => waiting.size,
    has: (owner) => waiting.has(owner),
  }
}
