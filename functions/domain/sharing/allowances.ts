import { makeAllowance, type Allowance } from './allowance.ts'

/** Most owners that are remembered; beyond that the one that came first is forgotten. */
const REMEMBERED = 10_000

/** The allowances of owners. */
export interface Allowances {
  /** That of the owner, who begins with all of it. */
  readonly of: (owner: string) => Allowance
  /** The same, but undefined for an owner who has none yet. */
  readonly known: (owner: string) => Allowance | undefined
}

/** Each owner has an allowance of `most`, and gets back so much in a second. `elapsed`: milliseconds of a clock that is never set. */
export function makeAllowances(most: number, perSecond: number, elapsed: () => number): Allowances {
  const all = new Map<string, Allowance>()
  return {
    of(owner) {
      const known = all.get(owner)
      if (known !== undefined) return known
      const allowance = makeAllowance(most, perSecond, elapsed)
      const [oldest] = all.keys()
      if (oldest !== undefined && all.size >= REMEMBERED) all.delete(oldest)
      all.set(owner, allowance)
      return allowance
    },
    known: (owner) => all.get(owner),
  }
}
