import type { Release } from '../../../domain/network/budget.ts'
import type { Allowance } from '../../../domain/sharing/allowance.ts'

/** What is reserved by owners, for as long as they have it. */
export interface Reserved {
  /** Takes so much of the allowance. The result ends that, and gives it back. */
  readonly begin: (owner: string, allowance: Allowance, amount: number) => Release
  /** Resolves when the owner has ended one; undefined: it has none. */
  readonly oneEnds: (owner: string) => Promise<unknown> | undefined
}

/** Nothing yet. */
export function openReserved(): Reserved {
  const all = new Map<string, Set<Promise<undefined>>>()
  return {
    begin(owner, { spend }, amount) {
      const { promise, resolve } = Promise.withResolvers<undefined>()
      const its = all.get(owner) ?? new Set()
      all.set(owner, its.add(promise))
      spend(amount)
      return () => {
        if (!its.delete(promise)) return
        if (its.size === 0) all.delete(owner)
        spend(-amount)
        resolve(undefined)
      }
    },
    oneEnds(owner) {
      const its = all.get(owner)
      return its === undefined ? undefined : Promise.race(its)
    },
  }
}
