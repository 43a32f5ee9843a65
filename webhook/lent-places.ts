import type { Release } from '../functions/domain/network/budget.ts'
import { openFairPlaces, type FairPlaces } from '../functions/domain/sharing/fair-places.ts'

/** Fair places that whoever holds many gives back to others. */
export interface LentPlaces extends Pick<FairPlaces, 'hasRoom'> {
  /**
   * Takes so many at once, for an address and a namespace that it names, as of FairPlaces. Where there are none, other
   * namespaces there that hold more than this one would then give way: `giveUp` is called.
   */
  readonly enter: (owners: readonly [string, string], terms: LoanTerms) => Release | undefined
}

/** How many places are taken. `giveUp`: called once they have been given back for somebody else. */
export interface LoanTerms {
  readonly count: number
  readonly giveUp: () => void
}

/** What a namespace has taken at once. */
interface Loan {
  readonly owners: readonly [string, string]
  readonly since: number
  readonly end: () => void
}

/**
 * Lends `most` places. Whoever holds most is the first to give way (Suter et al., "Design Considerations for Supporting TCP with
 * Per-flow Queueing", 1998), with the oldest of what it holds after `heldMs`, and with the rest at once. `elapsed`: milliseconds of a
 * clock that is never set.
 */
export function lendPlaces(
  most: number,
  { heldMs, elapsed }: { readonly heldMs: number; readonly elapsed: () => number },
): LentPlaces {
  const places = openFairPlaces(most)
  const held = new Map<string, number>()
  // Those that were taken first come first.
  const loans = new Set<Loan>()

  function heldBy(own: string): number {
    return held.get(own) ?? 0
  }

  function move(own: string, step: number): void {
    const count = heldBy(own) + step
    if (count === 0) held.delete(own)
    else held.set(own, count)
  }

  /**
   * The last one of the namespace at this address that holds most, if that is more than this. The oldest of each namespace has its
   * time, so that whoever is asked to give way again and again still comes to an end.
   */
  function loanToEnd(address: string, count: number): Loan | undefined {
    let [found, most]: [Loan | undefined, number] = [undefined, count + 1]
    const seen = new Set<string>()
    for (const loan of loans) {
      const [at, own] = loan.owners
      const isOver = seen.has(own) || elapsed() - loan.since >= heldMs
      seen.add(own)
      if (at === address && isOver && heldBy(own) >= most) [found, most] = [loan, heldBy(own)]
    }
    return found
  }

  function lend(owners: readonly [string, string], { count, giveUp }: LoanTerms, release: Release): Release {
    const [, own] = owners
    function giveBack(): void {
      if (loans.delete(loan)) move(own, -count)
      release()
    }
    function end(): void {
      giveBack()
      giveUp()
    }
    const loan: Loan = { owners, since: elapsed(), end }
    loans.add(loan)
    move(own, count)
    return giveBack
  }

  return {
    hasRoom: places.hasRoom,
    enter(owners, terms) {
      const [address, own] = owners
      for (;;) {
        const release = places.enter(owners, terms.count)
        if (release !== undefined) return lend(owners, terms, release)
        const loan = loanToEnd(address, heldBy(own) + terms.count)
        if (loan === undefined) return undefined
        loan.end()
      }
    },
  }
}
