import { makeAllowance, type Allowance } from './allowance.ts'
import { openFairQueue } from './fair-queue.ts'

/** What all owners share beyond allowances of their own. */
export interface SharedAllowance {
  /**
   * Spends one of the owner's own, or of what is shared, as soon as there is one: of those who wait, next is the owner who has
   * taken the least. Resolves with what it was spent from; undefined once nobody waits any more.
   */
  readonly spendOne: (owner: string, own: Allowance) => Promise<Allowance | undefined>
  /** Nobody waits any more. */
  readonly close: () => void
}

/** What may be spent at once, how much comes back in a second, and the clock, in milliseconds. */
export interface SharedTerms {
  readonly most: number
  readonly perSecond: number
  readonly elapsed: () => number
  readonly wait: (milliseconds: number) => Promise<unknown>
}

const NEVER = new AbortController().signal

/** Shares a full one. */
export function shareAllowance({ most, perSecond, elapsed, wait }: SharedTerms): SharedAllowance {
  const shared = makeAllowance(most, perSecond, elapsed)
  const queue = openFairQueue(1, { elapsed })
  let closed = false
  return {
    async spendOne(owner, own) {
      const leave = await queue.enter(owner, NEVER)
      try {
        while (!closed) {
          const from = [own, shared].find((one) => one.left() >= 1)
          if (from !== undefined) return spendOneOf(from)
          await wait(((1 - shared.left()) * 1_000) / perSecond)
        }
        return undefined
      } finally {
        leave()
      }
    },
    close: () => void (closed = true),
  }
}

/** Spends one, and returns what it was spent from. */
export function spendOneOf(from: Allowance): Allowance {
  from.spend(1)
  return from
}
