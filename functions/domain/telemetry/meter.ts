/** A metric in the terms of Prometheus: https://prometheus.io/docs/concepts/metric_types/ */
export interface Metric {
  /** With its unit: `_seconds`, `_bytes`, `_total` for a counter. */
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  /** One sentence, shown by `/metrics` and in docs/monitoring.md. */
  readonly help: string
  /** Each has a small set of values; never a namespace, a repository or a name. */
  readonly labels: readonly string[]
  /** Upper bounds of the buckets of a histogram. */
  readonly buckets?: readonly number[]
}

/** A value for each label of the metric. */
export type LabelsOf<M extends Metric> = Readonly<Record<M['labels'][number], string>>

/** A value of a metric by its labels. */
export interface Sample<M extends Metric> {
  readonly labels: LabelsOf<M>
  readonly value: number
}

/** Where a program writes what it measures. `main.ts` makes the real one; nothing else knows who reads the metrics. */
export interface Meter {
  /** Adds the value to a counter, sets a gauge to it, or counts it in a histogram. Never throws, and takes microseconds. */
  readonly record: <M extends Metric>(metric: M, value: number, labels: LabelsOf<M>) => void
  /** Takes the values of a gauge or a counter from `read` whenever the metrics are read. */
  readonly follow: <M extends Metric>(metric: M, read: () => readonly Sample<M>[]) => void
}

/** Measures nothing: without METRICS_PORT, and in tests. */
export const NO_METER: Meter = { record: () => undefined, follow: () => undefined }
