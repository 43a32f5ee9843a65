import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { stringify } from 'yaml'
import { findPrometheus, type PrometheusBinaries } from '../harness/prometheus.ts'
import { isLong } from '../harness/sample.ts'
import { readManifest } from './read.ts'

const run = promisify(execFile)

interface Rule {
  readonly alert: string
  readonly annotations: { readonly summary: string; readonly description: string }
  readonly labels: Readonly<Record<string, string>>
}

/** Series by name and labels, in the notation of promtool: one value a minute. */
type Series = Readonly<Record<string, string>>

/** What makes an alert fire at this time, and what it then says; and what looks alike, and is no reason for it. */
interface Case {
  readonly alert: string
  readonly at: string
  readonly fires: Series
  readonly summary: string
  readonly labels?: Readonly<Record<string, string>>
  readonly quiet: Series
}

const DECISIONS = 'commitlet_admission_duration_seconds'
const DELIVERIES = 'commitlet_delivery_duration_seconds_bucket'
const EVENTS = 'commitlet_events_total'
const EXPIRY = 'commitlet_certificate_expiry_timestamp_seconds'
const FINISHED = 'commitlet_sweep_finished_timestamp_seconds'
const UNSETTLED = 'commitlet_unsettled_resources'

const CASES: readonly Case[] = [
  {
    alert: 'CommitletWebhookAbsent',
    at: '6m',
    fires: { up: '1x20' },
    summary: "No metrics of Commitlet's webhook were read for 5 minutes.",
    quiet: { [EXPIRY]: '2000000000x20' },
  },
  {
    alert: 'CommitletAdmissionUndecided',
    at: '15m',
    fires: {
      [`${DECISIONS}_count{outcome="undecided"}`]: '0+6x30',
      [`${DECISIONS}_count{outcome="allowed"}`]: '0+54x30',
    },
    summary: 'Commitlet could not decide 10% of the reviews.',
    quiet: {
      [`${DECISIONS}_count{outcome="undecided"}`]: '0+1x30',
      [`${DECISIONS}_count{outcome="allowed"}`]: '0+99x30',
    },
  },
  {
    alert: 'CommitletAdmissionSlow',
    at: '20m',
    fires: {
      [`${DECISIONS}_bucket{le="1"}`]: '0x30',
      [`${DECISIONS}_bucket{le="5"}`]: '0+100x30',
      [`${DECISIONS}_bucket{le="+Inf"}`]: '0+100x30',
    },
    summary: 'One percent of the reviews take longer than 4.96s.',
    quiet: {
      [`${DECISIONS}_bucket{le="1"}`]: '0+995x30',
      [`${DECISIONS}_bucket{le="5"}`]: '0+1000x30',
      [`${DECISIONS}_bucket{le="+Inf"}`]: '0+1000x30',
    },
  },
  {
    alert: 'CommitletResourcesOverdue',
    at: '11m',
    fires: {
      'commitlet_sweep_overdue_seconds{pod="a"}': '400x20',
      'commitlet_sweep_overdue_seconds{pod="b"}': '0x20',
    },
    summary: 'A resource has been due for 6m 40s, and no attempt was made.',
    quiet: { 'commitlet_sweep_overdue_seconds{pod="a"}': '200x20' },
  },
  {
    alert: 'CommitletEventsNotDelivered',
    at: '25m',
    fires: {
      [`${EVENTS}{outcome="failed"}`]: '0+1x40',
      [`${EVENTS}{outcome="dropped"}`]: '0+1x40',
      [`${EVENTS}{outcome="delivered"}`]: '0+8x40',
    },
    summary: '20% of the events do not reach the function.',
    quiet: { [`${EVENTS}{outcome="failed"}`]: '0+1x40', [`${EVENTS}{outcome="delivered"}`]: '0+19x40' },
  },
  {
    alert: 'CommitletEventsWait',
    at: '6m',
    fires: { commitlet_waiting_events_oldest_seconds: '90x20' },
    summary: 'An event has waited for 1m 30s to be sent.',
    // It is over before the alert fires.
    quiet: { commitlet_waiting_events_oldest_seconds: '90x3 0x20' },
  },
  {
    alert: 'CommitletSlow',
    at: '35m',
    fires: {
      [`${DELIVERIES}{le="30"}`]: '0x60',
      [`${DELIVERIES}{le="120"}`]: '0+10x60',
      [`${DELIVERIES}{le="+Inf"}`]: '0+10x60',
    },
    summary: 'From apply to the end of the attempt, five percent take longer than 1m 55s.',
    quiet: {
      [`${DELIVERIES}{le="30"}`]: '0+10x60',
      [`${DELIVERIES}{le="120"}`]: '0+10x60',
      [`${DELIVERIES}{le="+Inf"}`]: '0+10x60',
    },
  },
  {
    alert: 'CommitletSweepStalled',
    at: '30m',
    fires: { [`${FINISHED}{sweep="unsettled"}`]: '0x60', [`${FINISHED}{sweep="full"}`]: '0+60x60' },
    summary: 'No sweep has ended without an error for 30m 0s.',
    quiet: { [`${FINISHED}{sweep="unsettled"}`]: '0+60x60', [`${FINISHED}{sweep="full"}`]: '0x60' },
  },
  {
    alert: 'CommitletManyRetry',
    at: '40m',
    fires: {
      [`${UNSETTLED}{kind="GitCommit",phase="Retrying"}`]: '60x60',
      [`${UNSETTLED}{kind="PullRequest",phase="Retrying"}`]: '5x60',
    },
    summary: '60 resources of the kind GitCommit have failed and are retried.',
    labels: { kind: 'GitCommit' },
    quiet: { [`${UNSETTLED}{kind="GitCommit",phase="Progressing"}`]: '60x60' },
  },
  {
    alert: 'CommitletCertificateExpires',
    at: '90m',
    fires: { [`${EXPIRY}{pod="a"}`]: '600000x120', [`${EXPIRY}{pod="b"}`]: '9000000x120' },
    summary: 'The certificate of the webhook expires in 6d 21h 10m 0s.',
    quiet: { [`${EXPIRY}{pod="a"}`]: '700000x120' },
  },
  {
    alert: 'CommitletEventLoopStalls',
    at: '40m',
    fires: { 'commitlet_event_loop_stalls_total{pod="a"}': '0+1x60' },
    summary: 'The pod a has stood still 15 times in 15 minutes.',
    labels: { pod: 'a' },
    quiet: { 'commitlet_event_loop_stalls_total{pod="a"}': '0x30 1x30' },
  },
]

const [{ spec }] = await readManifest('manifests/monitoring/rules.yaml')
const rules: readonly Rule[] = spec.groups[0].rules

t.test('every alert has a case', async (t) => {
  t.strictSame(CASES.map(({ alert }) => alert).sort(), rules.map(({ alert }) => alert).sort())
})

/** A test in the form of promtool. `fires`: what the alert then says. */
function testOf({ alert, at, ...one }: Case, fires: boolean): object {
  const rule = rules.find((known) => known.alert === alert)
  const expected = {
    exp_labels: { ...rule?.labels, ...one.labels },
    exp_annotations: { ...rule?.annotations, summary: one.summary },
  }
  return {
    name: `${alert} ${fires ? 'fires' : 'does not fire'}`,
    interval: '1m',
    input_series: Object.entries(fires ? one.fires : one.quiet).map(([series, values]) => ({
      series,
      values,
    })),
    alert_rule_test: [{ eval_time: at, alertname: alert, exp_alerts: fires ? [expected] : [] }],
  }
}

const skip = isLong() ? false : 'promtool is for npm run test:long'

t.test('promtool accepts the alerts, and each fires when it should and only then', { skip }, async (t) => {
  const found = await findPrometheus({ env: process.env, say: (line) => t.comment(line) })
  if ('missing' in found && /no Go/.test(found.missing))
    return void t.pass('promtool', { skip: found.missing })
  if ('missing' in found) return void t.fail(found.missing)
  const promtool = programIn(found)
  const folder = t.testdir({})
  await writeFile(join(folder, 'rules.yaml'), stringify(spec))
  t.match(await promtool('check', 'rules', join(folder, 'rules.yaml')), /SUCCESS: 11 rules found/)
  for (const one of CASES)
    for (const fires of [true, false]) {
      const file = join(folder, 'test.yaml')
      const tests = [testOf(one, fires)]
      await writeFile(file, stringify({ rule_files: ['rules.yaml'], evaluation_interval: '1m', tests }))
      t.match(
        await promtool('test', 'rules', file),
        /SUCCESS/,
        `${one.alert} ${fires ? 'fires' : 'is quiet'}`,
      )
    }
  const wrong = { ...testOf(CASES[0] ?? raise(), true), input_series: [] as readonly object[] }
  const tests = [{ ...wrong, input_series: [{ series: EXPIRY, values: '1x20' }] }]
  await writeFile(join(folder, 'test.yaml'), stringify({ rule_files: ['rules.yaml'], tests }))
  t.match(await promtool('test', 'rules', join(folder, 'test.yaml')), /FAILED/, 'a wrong case is seen')
})

function raise(): never {
  throw new Error('There are no cases.')
}

/** Runs promtool; returns all that it says, also if it fails. */
function programIn({ promtool }: PrometheusBinaries): (...args: readonly string[]) => Promise<string> {
  return async (...args) => {
    const { stdout, stderr } = await run(promtool, args).catch((error: unknown) => {
      if (error instanceof Error && 'stdout' in error && 'stderr' in error) return error
      throw error
    })
    return `${String(stdout)}${String(stderr)}`
  }
}
