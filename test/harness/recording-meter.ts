import type { Meter, Metric, Sample } from '../../functions/domain/telemetry/meter.ts'

/** A value as it was recorded: the metric's name without `commitlet_`, its labels, the value. */
export type Recorded = readonly [name: string, labels: Readonly<Record<string, string>>, value: number]

/** A meter that keeps what is recorded, in order; `read` asks for the values of a metric that is followed. */
export function recordingMeter() {
  const recorded: Recorded[] = []
  const followed = new Map<string, () => readonly Sample<Metric>[]>()
  const meter: Meter = {
    record: ({ name }, value, labels) =>
      void recorded.push([name.replace(/^commitlet_/, ''), { ...labels }, value]),
    follow: ({ name }, read) => void followed.set(name.replace(/^commitlet_/, ''), read),
  }
  const read = (name: string): readonly Sample<Metric>[] => followed.get(name)?.() ?? []
  return { meter, recorded, read }
}
