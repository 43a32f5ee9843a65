/** Names, each with a rank (a small whole number). Every operation takes constant time, however many names there are. */
export interface Ranks {
  /** Gives a name its first or another rank and puts it behind the others of that rank; undefined removes the name. */
  readonly move: (name: string, rank: number | undefined) => void
  /** The first name of the lowest rank below `limit`; undefined if there is none. Takes at most `limit` steps. */
  readonly lowest: (limit: number) => string | undefined
  /** The first name of the highest rank; undefined if there are no names. */
  readonly highest: () => string | undefined
}

/** Makes one without names. */
export function makeRanks(): Ranks {
  const rankOf = new Map<string, number>()
  const names: Set<string>[] = []

  function move(name: string, rank: number | undefined): void {
    const before = rankOf.get(name)
    if (before !== undefined) names[before]?.delete(name)
    if (rank === undefined) {
      rankOf.delete(name)
    } else {
      while (names.length <= rank) names.push(new Set())
      names[rank]?.add(name)
      rankOf.set(name, rank)
    }
    // Each step undoes one of the steps up, so that the highest rank is always the last one.
    while (names.at(-1)?.size === 0) names.pop()
  }

  function lowest(limit: number): string | undefined {
    const found = names.slice(0, limit).find(({ size }) => size > 0)
    return first(found)
  }

  return { move, lowest, highest: () => first(names.at(-1)) }
}

function first(names: Iterable<string> = []): string | undefined {
  for (const name of names) return name
  return undefined
}
