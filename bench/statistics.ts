/** The middle value, or the mean of the two middle values if their number is even. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const [low = Number.NaN, high = Number.NaN] = [sorted[middle - 1 + (sorted.length % 2)], sorted[middle]]
  return (low + high) / 2
}

/** The smallest value that `percent` (0 to 100) of the values do not exceed (nearest rank). */
export function percentile(values: readonly number[], percent: number): number {
  const rank = Math.ceil((percent / 100) * values.length)
  return values.toSorted((a, b) => a - b)[Math.max(rank, 1) - 1] ?? Number.NaN
}

/** Several measurements of the same thing: the median, and the quartiles as the range in which half of them lie. */
export interface Spread {
  readonly median: number
  readonly low: number
  readonly high: number
  readonly count: number
}

/** The spread of these values, rounded; one value is its own quartiles. */
export function spread(values: readonly number[]): Spread {
  const [middle, low, high] = [median(values), percentile(values, 25), percentile(values, 75)].map(rounded)
  return { median: middle ?? NaN, low: low ?? NaN, high: high ?? NaN, count: values.length }
}

/** To three significant digits, and whole above that: no measurement here is more exact. */
export function rounded(value: number): number {
  return Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3))
}

/** A heading and rows, in aligned columns. The first column is text, the others are numbers. */
export function table(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [heading, ...rows]
  const widths = heading.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)))
  const lines = all.map((row) =>
    row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join('  '),
  )
  return `${lines.join('\n')}\n`
}
