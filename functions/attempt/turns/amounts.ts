/** What is shared: how many at once, MiB of memory, MiB of the folder for temporary files. */
export interface Amounts {
  readonly count: number
  readonly memoryMiB: number
  readonly diskMiB: number
}

export const NOTHING: Amounts = { count: 0, memoryMiB: 0, diskMiB: 0 }

/** A limit of their number alone. */
export function atMost(count: number): Amounts {
  return { count, memoryMiB: Infinity, diskMiB: Infinity }
}

/** The key of everything that is held. */
export const ALL = 'all'

/** What is held, by a key such as a namespace. Keys that hold nothing are forgotten. */
export interface Tally {
  readonly of: (key: string) => Amounts
  readonly add: (key: string, amounts: Amounts) => void
  readonly subtract: (key: string, amounts: Amounts) => void
}

/** An empty one. */
export function makeTally(): Tally {
  const held = new Map<string, Amounts>()

  function of(key: string): Amounts {
    return held.get(key) ?? NOTHING
  }

  return {
    of,
    add: (key, amounts) => void held.set(key, sum(of(key), amounts)),
    subtract(key, amounts) {
      const left = difference(of(key), amounts)
      if (isNothing(left)) held.delete(key)
      else held.set(key, left)
    },
  }
}

/** Is there room for `more`? Whoever holds nothing yet gets what they need, however small the limit is. */
export function isWithin(limit: Amounts, held: Amounts, more: Amounts): boolean {
  if (isNothing(held)) return limit.count > 0
  const { count, memoryMiB, diskMiB } = sum(held, more)
  return count <= limit.count && memoryMiB <= limit.memoryMiB && diskMiB <= limit.diskMiB
}

/** This part of each amount. */
export function part({ count, memoryMiB, diskMiB }: Amounts, fraction: number): Amounts {
  return { count: count * fraction, memoryMiB: memoryMiB * fraction, diskMiB: diskMiB * fraction }
}

function isNothing({ count, memoryMiB, diskMiB }: Amounts): boolean {
  return count === 0 && memoryMiB === 0 && diskMiB === 0
}

/** Both together. */
export function sum(a: Amounts, b: Amounts): Amounts {
  return {
    count: a.count + b.count,
    memoryMiB: a.memoryMiB + b.memoryMiB,
    diskMiB: a.diskMiB + b.diskMiB,
  }
}

/** What is left of the first without the second. */
export function difference(a: Amounts, b: Amounts): Amounts {
  return sum(a, { count: -b.count, memoryMiB: -b.memoryMiB, diskMiB: -b.diskMiB })
}
