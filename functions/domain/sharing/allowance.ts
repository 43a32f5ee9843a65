/** A token bucket: what may be spent at once, and how fast as much comes back. */
export interface Allowance {
  /** What is left now; negative if more was spent than there was. */
  readonly left: () => number
  /** Spends so much, also more than is left. A negative amount is given back, up to what may be spent at once. */
  readonly spend: (amount: number) => void
}

/** Makes a full one. `now` is in milliseconds of a clock that is never set. */
export function makeAllowance(most: number, perSecond: number, now: () => number): Allowance {
  let amount = most
  let countedAt = now()

  function left(): number {
    const time = now()
    amount = Math.min(most, amount + ((time - countedAt) / 1_000) * perSecond)
    countedAt = time
    return amount
  }

  return {
    left,
    spend(spent) {
      amount = Math.min(most, left() - spent)
    },
  }
}
