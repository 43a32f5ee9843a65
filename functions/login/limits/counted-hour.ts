import type { RequestCount } from './request-count.ts'

/** The requests of the last hour, as this process has counted them. */
export interface CountedHour extends RequestCount {
  /** The host allows so many in an hour, if that is more than was known. */
  readonly raise: (perHour: number) => void
}

/** Requests are counted by the slots in which they are made, until each of a slot is an hour old; in milliseconds. */
const SLOT_MS = 300_000
const KEPT_MS = 3_600_000 + SLOT_MS
/** Each replica counts alone, and there are two as the function is shipped without Knative: each has its part. */
const REPLICAS = 2

/** Counts from now on. `perHour`: how many the host allows in any hour. `now`: milliseconds of a clock that is never set. */
export function countHour(perHour: number, now: () => number): CountedHour {
  /** How many each owner has made, by the beginning of each slot. */
  const slots = new Map<number, Map<string, number>>()
  let most = perHour / REPLICAS

  function kept(): readonly (readonly [begun: number, made: ReadonlyMap<string, number>])[] {
    for (const begun of slots.keys()) if (begun + KEPT_MS <= now()) slots.delete(begun)
    return [...slots]
  }

  return {
    get most() {
      return most
    },
    get left() {
      return most - sum(kept().flatMap(([, made]) => [...made.values()]))
    },
    madeBy: (owner) => sum(kept().map(([, made]) => made.get(owner) ?? 0)),
    add(owner) {
      const begun = now() - (now() % SLOT_MS)
      const made = slots.get(begun) ?? new Map<string, number>()
      slots.set(begun, made.set(owner, (made.get(owner) ?? 0) + 1))
    },
    moreAt(owner) {
      const all = kept()
      const [oldest] = all.find(([, made]) => made.has(owner)) ?? all[0] ?? [now()]
      return oldest + KEPT_MS
    },
    raise(perHour) {
      most = Math.max(most, perHour / REPLICAS)
    },
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0)
}
