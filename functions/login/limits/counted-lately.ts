import type { RequestCount } from './request-count.ts'

/** How many requests a host is known to allow in any while of this length. */
export interface KnownLimit {
  readonly most: number
  /** In milliseconds. */
  readonly within: number
  /** What a request that changes something counts; one that only reads counts 1. */
  readonly changeCounts: number
  /** The header in which the host tells that it allows more. */
  readonly raisedBy?: string
}

/** The requests of the last while, as this process has counted them. */
export interface CountedLately extends RequestCount {
  /** The host allows so many in a while, if that is more than was known. */
  readonly raise: (most: number) => void
}

/** Requests are counted by the slots in which they are made, until each of a slot is a while old. */
const SLOTS = 12
/** Each replica counts alone, and there are two as the function is shipped without Knative: each has its part. */
const REPLICAS = 2

/** Counts from now on. `now`: milliseconds of a clock that is never set. */
export function countLately({ most: known, within }: KnownLimit, now: () => number): CountedLately {
  const slotMs = within / SLOTS
  const keptMs = within + slotMs
  /** How many each owner has made, by the beginning of each slot. */
  const slots = new Map<number, Map<string, number>>()
  let most = known / REPLICAS

  function kept(): readonly (readonly [begun: number, made: ReadonlyMap<string, number>])[] {
    for (const begun of slots.keys()) if (begun + keptMs <= now()) slots.delete(begun)
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
    add(owner, requests) {
      const begun = now() - (now() % slotMs)
      const made = slots.get(begun) ?? new Map<string, number>()
      slots.set(begun, made.set(owner, (made.get(owner) ?? 0) + requests))
    },
    moreAt(owner) {
      const all = kept()
      const [oldest] = all.find(([, made]) => made.has(owner)) ?? all[0] ?? [now()]
      return oldest + keptMs
    },
    raise(allowed) {
      most = Math.max(most, allowed / REPLICAS)
    },
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0)
}
