import t from 'tap'
import type { Metric } from '../../functions/domain/telemetry/meter.ts'
import { openPrometheus } from '../../functions/telemetry/prometheus.ts'

const SEEN = { name: 'seen_total', type: 'counter', help: 'Seen.', labels: ['kind'] } as const
const ROOM = { name: 'room_bytes', type: 'gauge', help: 'Room.', labels: [] } as const
const TIME = {
  name: 'time_seconds',
  type: 'histogram',
  help: 'Time.',
  labels: ['step'],
  buckets: [1, 5],
} as const
const CPU = { name: 'cpu_seconds_total', type: 'counter', help: 'CPU.', labels: [] } as const
const METRICS: readonly Metric[] = [SEEN, ROOM, TIME, CPU]

/** The lines of the text without the descriptions. */
async function linesOf(text: () => Promise<string>): Promise<readonly string[]> {
  return (await text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
}

t.test('counters add up, gauges keep the last value, histograms count into buckets', async (t) => {
  const { meter, text, contentType } = openPrometheus(METRICS)
  meter.record(SEEN, 1, { kind: 'GitCommit' })
  meter.record(SEEN, 2, { kind: 'GitCommit' })
  meter.record(ROOM, 5, {})
  meter.record(ROOM, 3, {})
  for (const seconds of [0.5, 2, 7]) meter.record(TIME, seconds, { step: 'push' })
  const lines = await linesOf(text)
  t.ok(lines.includes('seen_total{kind="GitCommit"} 3'))
  t.ok(lines.includes('room_bytes 3'))
  t.ok(lines.includes('time_seconds_bucket{le="1",step="push"} 1'))
  t.ok(lines.includes('time_seconds_bucket{le="5",step="push"} 2'))
  t.ok(lines.includes('time_seconds_bucket{le="+Inf",step="push"} 3'))
  t.ok(lines.includes('time_seconds_sum{step="push"} 9.5'))
  t.match(contentType, /^text\/plain; version=0\.0\.4/)
})

t.test('every metric is described before it has a value, and an unknown one is left out', async (t) => {
  const { meter, text } = openPrometheus(METRICS)
  meter.record({ name: 'other', type: 'gauge', help: 'Other.', labels: [] }, 1, {})
  const described = await text()
  for (const { name, help, type } of METRICS)
    t.ok(described.includes(`# HELP ${name} ${help}\n# TYPE ${name} ${type}`), name)
  t.notMatch(described, /other/)
})

t.test('a metric that is followed is read each time, and a counter does not add up twice', async (t) => {
  const { meter, text } = openPrometheus(METRICS)
  let value = 1
  meter.follow(CPU, () => [{ labels: {}, value }])
  meter.follow(ROOM, () => [{ labels: {}, value: 10 * value }])
  t.match(await linesOf(text), ['room_bytes 10', 'cpu_seconds_total 1'])
  value = 2
  t.match(await linesOf(text), ['room_bytes 20', 'cpu_seconds_total 2'])
})

t.test('values of labels are escaped', async (t) => {
  const { meter, text } = openPrometheus(METRICS)
  meter.record(SEEN, 1, { kind: 'a"b\nc' })
  t.ok((await linesOf(text)).includes('seen_total{kind="a\\"b\\nc"} 1'))
})
