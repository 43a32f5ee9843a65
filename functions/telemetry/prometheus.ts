import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { Meter, Metric, Sample } from '../domain/telemetry/meter.ts'

/** A meter, and what it has measured in the text format of Prometheus. */
export interface PrometheusMeter {
  readonly meter: Meter
  /** https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format */
  readonly text: () => Promise<string>
  readonly contentType: string
}

type Recorder = (labels: Readonly<Record<string, string>>, value: number) => void

/**
 * Keeps these metrics in memory. Each is exposed from the beginning, with its description; one without labels also
 * with the value 0. A metric that is not among them is not recorded.
 */
export function openPrometheus(metrics: readonly Metric[]): PrometheusMeter {
  const registry = new Registry()
  const followed = new Map<string, () => readonly Sample<Metric>[]>()
  const recorders = new Map<string, Recorder>()
  for (const metric of metrics) {
    const collect = (): readonly Sample<Metric>[] => followed.get(metric.name)?.() ?? []
    recorders.set(metric.name, recorderOf(metric, registry, collect))
  }
  return {
    meter: {
      record: (metric, value, labels) => recorders.get(metric.name)?.(labels, value),
      follow<M extends Metric>(metric: M, read: () => readonly Sample<M>[]) {
        followed.set(metric.name, read)
      },
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
  }
}

/** Makes the metric in the registry. `collect`: its values, if they are read only when they are exposed. */
function recorderOf(
  { name, help, type, labels, buckets }: Metric,
  registry: Registry,
  collect: () => readonly Sample<Metric>[],
): Recorder {
  const options = { name, help, labelNames: labels, registers: [registry] }
  if (type === 'histogram') {
    const histogram = new Histogram({ ...options, buckets: [...(buckets ?? [])] })
    return (values, value) => histogram.observe(values, value)
  }
  if (type === 'gauge') {
    const gauge = new Gauge({
      ...options,
      collect() {
        for (const { labels: values, value } of collect()) this.set(values, value)
      },
    })
    return (values, value) => gauge.set(values, value)
  }
  const counter = new Counter({
    ...options,
    collect() {
      const samples = collect()
      if (samples.length > 0) this.reset()
      for (const { labels: values, value } of samples) this.inc(values, value)
    },
  })
  return (values, value) => counter.inc(values, value)
}
