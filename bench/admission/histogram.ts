/** A Prometheus histogram: the observations up to each bound (`le`, seconds), their sum and their number. */
export interface Histogram {
  readonly buckets: ReadonlyMap<number, number>
  readonly sum: number
  readonly count: number
}

/** The API server's duration of each webhook call (a stable metric; labels name, type, operation, rejected). */
export const WEBHOOK_DURATION = 'apiserver_admission_webhook_admission_duration_seconds'

/**
 * Reads the histogram of a metric from a text in Prometheus' exposition format: the series whose label `name` has this
 * value, summed over all other labels. Empty if there is no such series.
 */
export function readHistogram(text: string, metric: string, name: string): Histogram {
  const buckets = new Map<number, number>()
  const totals = { sum: 0, count: 0 }
  for (const line of text.split('\n')) {
    const [, part, labels = '', value] = /^(\w+)\{(.*)\} (\S+)$/.exec(line) ?? []
    if (!part?.startsWith(metric) || !labels.split(',').includes(`name="${name}"`)) continue
    const le = /(?:^|,)le="([^"]+)"/.exec(labels)?.[1]
    if (part === `${metric}_sum`) totals.sum += Number(value)
    if (part === `${metric}_count`) totals.count += Number(value)
    if (part !== `${metric}_bucket` || le === undefined) continue
    const bound = le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le)
    buckets.set(bound, (buckets.get(bound) ?? 0) + Number(value))
  }
  return { buckets, ...totals }
}

/** The observations between two readings of the same histogram. */
export function since(before: Histogram, after: Histogram): Histogram {
  const buckets = [...after.buckets].map(
    ([le, value]) => [le, value - (before.buckets.get(le) ?? 0)] as const,
  )
  return { buckets: new Map(buckets), sum: after.sum - before.sum, count: after.count - before.count }
}

/** The observations of both histograms. */
export function together(one: Histogram, other: Histogram): Histogram {
  const bounds = new Set([...one.buckets.keys(), ...other.buckets.keys()])
  const buckets = [...bounds].map(
    (le) => [le, (one.buckets.get(le) ?? 0) + (other.buckets.get(le) ?? 0)] as const,
  )
  return { buckets: new Map(buckets), sum: one.sum + other.sum, count: one.count + other.count }
}

/** The share of observations of at most `le` seconds, which is one of the histogram's bounds. */
export function shareWithin({ buckets, count }: Histogram, le: number): number {
  return (buckets.get(le) ?? Number.NaN) / count
}

/**
 * The quantile (0 to 1) in seconds, interpolated linearly within its bucket as Prometheus' histogram_quantile does. In
 * the last bucket it is the lower bound. The result is as exact as the bucket is narrow.
 */
export function quantile({ buckets, count }: Histogram, share: number): number {
  const rank = share * count
  const sorted = [...buckets].sort(([a], [b]) => a - b)
  const index = sorted.findIndex(([, value]) => value >= rank)
  const [upper, within] = sorted[index] ?? [Number.NaN, Number.NaN]
  const [lower, below] = sorted[index - 1] ?? [0, 0]
  if (upper === Number.POSITIVE_INFINITY) return lower
  return lower + ((upper - lower) * (rank - below)) / (within - below)
}
