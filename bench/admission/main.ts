import { existsSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import type { MeasuredCall } from './webhook-alone.ts'
import { measureWebhookAlone } from './webhook-alone.ts'
import type { Creations } from './on-api-server.ts'
import { onApiServer } from './on-api-server.ts'
import { quantile, shareWithin } from './histogram.ts'
import type { Histogram } from './histogram.ts'
import { percentile, table } from '../statistics.ts'
import { stopSignal, until } from '../../test/harness/stop-signal.ts'

/** What admission may add at the 99th percentile, in milliseconds. */
const MOST_ADDED_MS = 15
/** The API server's histogram has bounds at 5 ms and 25 ms and none in between. */
const FIRST_BOUND_S = 0.005
const SECOND_BOUND_S = 0.025
const COLUMNS = ['p50 ms', 'p99 ms', 'max ms', 'p99 ratio', 'p99 added']

/** A measurement as it is printed, and whether the promise holds. */
interface Finding {
  readonly text: string
  readonly verdicts: readonly string[]
}

void until(stopSignal()).then(() => process.exit(1))
const built = existsSync(join(import.meta.dirname, '../../dist/webhook.cjs'))
process.stdout.write(
  `50 requests a second, open loop, ${cpus().length} cores, Node ${process.version}, webhook from ${built ? 'dist/webhook.cjs' : 'its sources'}\n`,
)
sayLoad('at the start')
const beside = besideBare(await measureWebhookAlone(built))
process.stdout.write(beside.text)
sayLoad('now')
const creations = await onApiServer(built)
const inPlace = 'missing' in creations ? notMeasured(creations.missing) : onCluster(creations)
process.stdout.write(inPlace.text)
sayLoad('at the end')
process.stdout.write(`\nAt most ${MOST_ADDED_MS} ms added at the 99th percentile?\n\n`)
for (const verdict of [...beside.verdicts, ...inPlace.verdicts]) process.stdout.write(`${verdict}\n`)

function sayLoad(when: string): void {
  process.stdout.write(`load average of the last minute ${when}: ${loadavg()[0]?.toFixed(1)}\n`)
}

function besideBare([bare, ...calls]: readonly MeasuredCall[]): Finding {
  const baseline = bare?.times ?? []
  const contenders = [{ name: 'bare node:https', times: baseline }, ...calls]
  const rows = contenders.map(({ name, times }) => [name, ...cells(times, baseline)])
  return {
    text: `\nThe webhook alone, ${baseline.length} calls of each kind\n\n${table(['', ...COLUMNS], rows)}\n`,
    verdicts: calls.map(({ name, times }) => verdict(name, percentile(times, 99) - percentile(baseline, 99))),
  }
}

function onCluster({ without, admitted, webhooks }: Creations): Finding {
  const rows = [
    ['creation without admission', ...cells(without, without)],
    ['creation with both webhooks', ...cells(admitted, without)],
  ]
  const metrics = webhooks.map(({ name, histogram }) => [
    name,
    `${histogram.count}`,
    ((histogram.sum / histogram.count) * 1000).toFixed(1),
    `${(shareWithin(histogram, FIRST_BOUND_S) * 100).toFixed(1)} %`,
    (quantile(histogram, 0.99) * 1000).toFixed(1),
  ])
  const heading = ['', 'calls', 'mean ms', 'within 5 ms', 'p99 ms, estimated']
  return {
    text: [
      `\nOn a real API server, ${without.length} creations of each kind\n\n${table(['', ...COLUMNS], rows)}`,
      `\nIts own metric, apiserver_admission_webhook_admission_duration_seconds\n\n${table(heading, metrics)}\n`,
    ].join(''),
    verdicts: [
      verdict('creation on an API server', percentile(admitted, 99) - percentile(without, 99)),
      ...webhooks.map(({ name, histogram }) => ownVerdict(name, histogram)),
    ],
  }
}

/** The histogram has bounds at 5 ms and 25 ms and none in between, so the verdict is certain only outside of these. */
function ownVerdict(name: string, histogram: Histogram): string {
  const what = `its own metric, ${name}`
  const [first, second] = [FIRST_BOUND_S, SECOND_BOUND_S].map((bound) => shareWithin(histogram, bound))
  if ((first ?? 0) >= 0.99) return `yes  ${what}: at most ${FIRST_BOUND_S * 1000} ms`
  if ((second ?? 0) < 0.99) return `NO   ${what}: more than ${SECOND_BOUND_S * 1000} ms`
  const estimate = (quantile(histogram, 0.99) * 1000).toFixed(1)
  return `open ${what}: between ${FIRST_BOUND_S * 1000} and ${SECOND_BOUND_S * 1000} ms, ${estimate} ms if spread evenly`
}

function notMeasured(reason: string): Finding {
  return { text: `\nOn a real API server: not measured, ${reason}\n`, verdicts: [] }
}

function cells(times: readonly number[], baseline: readonly number[]): readonly string[] {
  const [of, base] = [percentile(times, 99), percentile(baseline, 99)]
  const figures = [percentile(times, 50), of, percentile(times, 100)].map((value) => value.toFixed(1))
  return [...figures, `${(of / base).toFixed(1)}x`, (of - base).toFixed(1)]
}

function verdict(what: string, added: number): string {
  return `${added <= MOST_ADDED_MS ? 'yes' : 'NO '}  ${what}: ${added.toFixed(1)} ms`
}
