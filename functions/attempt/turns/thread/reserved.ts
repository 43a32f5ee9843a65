import type { Release } from '../../../domain/network/budget.ts'
import type { Allowance } from '../../../domain/sharing/allowance.ts'
import { countUnderWay } from '../../../domain/sharing/under-way.ts'

/** What is reserved by owners, for as long as they have it. */
export interface Reserved {
  /** Takes so much of the allowance. The result ends that, and gives it back. */
  readonly begin: (owner: string, allowance: Allowance, amount: number) => Release
  /** Resolves when the owner has ended one; undefined: it has none. */
  readonly oneEnds: (owner: string) => Promise<undefined> | undefined
}

/** Nothing yet. */
export function openReserved(): Reserved {
  const underWay = countUnderWay()
  return {
    begin(owner, { spend }, amount) {
      const end = underWay.begin(owner)
      let isOver = false
      spend(amount)
      return () => {
        if (isOver) return
        isOver = true
        spend(-amount)
        end()
      }
    },
    oneEnds: (owner) => (underWay.count(owner) === 0 ? undefined : underWay.nextEnd(owner)),
  }
}
