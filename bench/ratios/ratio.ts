import { rounded, type Spread } from '../statistics.ts'

/** A figure beside another one of the same run: the load of the machine affects both. Smaller is better. */
export interface Ratio {
  /** Group and case, such as `commit/files-10000/clone`. */
  readonly id: string
  readonly title: string
  readonly value: number
  readonly unit: string
  readonly baseline: string
  readonly base: number
  readonly ratio: number
  /** The ratio of the better quartile: what is worse than a bound even so is not noise. */
  readonly best: number
}

/** What is to be compared, as measured. */
export interface Compared {
  readonly id: string
  readonly title: string
  readonly value: Spread | number
  readonly unit: string
  readonly baseline: string
  readonly base: Spread | number
}

/** Puts the medians in proportion. */
export function compare({ value, base, ...rest }: Compared): Ratio {
  const [own, other] = [value, base].map((one) => (typeof one === 'number' ? one : one.median))
  const low = typeof value === 'number' ? value : value.low
  const [of = NaN, by = NaN] = [own, other]
  return { ...rest, value: of, base: by, ratio: rounded(of / by), best: rounded(low / by) }
}
