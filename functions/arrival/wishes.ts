/** What one who waits for places still has to begin. */
export interface Wishes {
  readonly left: () => number
  /** Tries the next one of a namespace that was not tried in vain in this round; whether it has begun. */
  readonly tryNext: () => boolean
  /** Whether none is left that may be tried in this round. */
  readonly isTried: () => boolean
  /** The next round: what was tried in vain may be tried again. */
  readonly beginRound: () => void
}

/** Begins with a round in which nothing was tried. Namespaces take turns; those of one begin in their order. */
export function openWishes<T extends { readonly namespace?: string }>(
  all: readonly T[],
  begin: (one: T) => boolean,
): Wishes {
  const byNamespace = Map.groupBy(all, ({ namespace }) => namespace)
  // The last one first: they are taken from the end.
  const untried = [...byNamespace.values()].map((own) => own.reverse())
  const inVain: T[][] = []
  let left = all.length
  return {
    left: () => left,
    tryNext() {
      const own = untried.shift()
      const next = own?.at(-1)
      if (own === undefined || next === undefined) return false
      if (!begin(next)) {
        inVain.push(own)
        return false
      }
      own.pop()
      left -= 1
      if (own.length > 0) untried.push(own)
      return true
    },
    isTried: () => untried.length === 0,
    beginRound() {
      for (const own of inVain.splice(0)) untried.push(own)
    },
  }
}
