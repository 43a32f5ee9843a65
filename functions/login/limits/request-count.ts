/** The requests that a host allows a login in a while, and who has made how many of them. */
export interface RequestCount {
  readonly most: number
  readonly left: number
  readonly madeBy: (owner: string) => number
  readonly add: (owner: string, requests: number) => void
  /** When this owner may be allowed more, in milliseconds of the clock. */
  readonly moreAt: (owner: string) => number
}

/**
 * The last eighth of a while's requests is for owners who have made few of them, less than one of 128: where each takes half of
 * what is left, ten have all of GitHub's 5,000.
 */
const OF_FEW = 1 / 8
const FEW = 1 / 128

/**
 * An owner may make as many requests as it leaves: one alone half of them, two a third each, and something is always left for
 * those who make few.
 */
export function hasShare({ most, left, madeBy }: RequestCount, owner: string): boolean {
  const made = madeBy(owner)
  return made <= left && (left > most * OF_FEW || made < most * FEW)
}
