import { readFile } from 'node:fs/promises'
import { parser } from '@prometheus-io/lezer-promql'
import t from 'tap'
import { ROWS } from '../../manifests/dashboard.ts'
import { FUNCTION_METRICS } from '../../functions/domain/telemetry/function-metrics.ts'
import type { Metric } from '../../functions/domain/telemetry/meter.ts'
import { PROGRAM_METRICS } from '../../functions/domain/telemetry/program-metrics.ts'
import { WEBHOOK_METRICS } from '../../webhook/metrics.ts'
import { readManifest, ROOT } from './read.ts'

const METRICS: readonly Metric[] = [PROGRAM_METRICS, WEBHOOK_METRICS, FUNCTION_METRICS].flatMap((table) =>
  Object.values<Metric>(table),
)
/** Prometheus adds these to everything that it reads from a pod. */
const OF_TARGET = ['namespace', 'pod', 'container', 'job', 'instance']
const SUFFIXES: Readonly<Record<Metric['type'], readonly string[]>> = {
  counter: [''],
  gauge: [''],
  histogram: ['_bucket', '_sum', '_count'],
}

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly for: string
  readonly labels: { readonly severity: string }
  readonly annotations: { readonly summary: string; readonly description: string }
}

const [rules] = await readManifest('manifests/monitoring/rules.yaml')
const alerts: readonly Rule[] = rules.spec.groups[0].rules

/** What is wrong with a query: its syntax, a metric that nobody exposes, a label that it does not have. */
function problemsOf(written: string): readonly string[] {
  const query = written.replaceAll('$__rate_interval', '5m')
  const found: { name: string; text: string }[] = []
  parser.parse(query).iterate({
    enter: ({ name, from, to, type }) => {
      found.push({ name: type.isError ? 'error' : name, text: query.slice(from, to) })
    },
  })
  const texts = (name: string) => found.filter((node) => node.name === name).map(({ text }) => text)
  if (texts('error').length > 0) return [`syntax: ${query}`]
  const series = [...new Set(texts('VectorSelector').map((text) => text.replace(/\{[^]*$/, '')))]
  const metrics = series.map((name) => [name, metricOf(name)] as const)
  const unknown = metrics.flatMap(([name, metric]) => (metric === undefined ? [`no metric ${name}`] : []))
  const labels = [...OF_TARGET, 'le', ...metrics.flatMap(([, metric]) => metric?.labels ?? [])]
  const used = texts('LabelName').filter((label) => !labels.includes(label))
  return [...unknown, ...used.map((label) => `no label ${label}: ${query}`)]
}

/** Whether the text names the metric, or a part of a histogram. */
function isIn(text: string, name: string): boolean {
  return new RegExp(`\\b${name}(?:_bucket|_sum|_count)?\\b`).test(text)
}

function metricOf(series: string): Metric | undefined {
  return METRICS.find(({ name, type }) => SUFFIXES[type].some((suffix) => `${name}${suffix}` === series))
}

t.test('what is wrong with a query is seen', async (t) => {
  t.match(problemsOf('sum(rate(commitlet_events_total[5m])'), [/^syntax/])
  t.strictSame(problemsOf('sum(commitlet_nothing)'), ['no metric commitlet_nothing'])
  t.strictSame(problemsOf('commitlet_delivery_duration_seconds'), [
    'no metric commitlet_delivery_duration_seconds',
  ])
  t.match(problemsOf('sum by (tenant) (commitlet_events_total)'), [/^no label tenant/])
  t.match(problemsOf('commitlet_events_total{tenant="a"}'), [/^no label tenant/])
  t.strictSame(problemsOf('sum by (outcome) (rate(commitlet_events_total[$__rate_interval]))'), [])
})

t.test('every query of the dashboard is PromQL over metrics and labels that there are', async (t) => {
  const panels = ROWS.flatMap((row) => row.panels)
  t.ok(panels.length > 20)
  for (const { title, queries, description } of panels) {
    t.ok(queries.length > 0 && description.endsWith('.'), title)
    for (const { expr, legend } of queries) {
      t.strictSame(problemsOf(expr), [], title)
      for (const [, label = ''] of legend.matchAll(/\{\{(\w+)\}\}/g))
        t.match(expr, new RegExp(`\\b${label}\\b|^process_|^commitlet_`), `${title}: ${legend}`)
    }
  }
})

t.test('every metric is in a panel, an alert, or on the list of the others', async (t) => {
  const queries = [...ROWS.flatMap((row) => row.panels.flatMap((panel) => panel.queries)), ...alerts]
  const text = queries.map(({ expr }) => expr).join('\n')
  const unseen = METRICS.filter(({ name }) => !isIn(text, name)).map(({ name }) => name)
  t.strictSame(unseen.sort(), [
    'commitlet_admission_in_hand',
    'commitlet_kubernetes_bytes_total',
    'commitlet_provider_bytes_total',
    'commitlet_received_events_total',
    'commitlet_spans_total',
    'commitlet_sweep_due_resources',
    'commitlet_sweep_duration_seconds',
    'commitlet_sweep_failures_total',
    'commitlet_waiting_events_bytes',
    'commitlet_waiting_oldest_seconds',
    'process_start_time_seconds',
  ])
})

t.test('alerts rest on the webhook, say what is wrong, and the page says what to do', async (t) => {
  const page = await readFile(new URL('docs/monitoring.md', ROOT), 'utf8')
  const own = Object.values<Metric>(FUNCTION_METRICS).map(({ name }) => name)
  for (const { alert, expr, labels, annotations, for: wait } of alerts) {
    t.strictSame(problemsOf(expr), [], alert)
    t.notOk(
      own.some((name) => isIn(expr, name)),
      `${alert}: the function may have no pod`,
    )
    t.match(labels.severity, /^(critical|warning)$/)
    t.match(wait, /^\d+[mh]$/)
    t.match(annotations.summary, /\.$/)
    t.match(annotations.description, /\.$/)
    t.match(page, `\n### ${alert}\n`)
  }
  const sections = [...page.matchAll(/^### (Commitlet\w+)$/gm)].map(([, name]) => name)
  t.strictSame(sections.sort(), alerts.map(({ alert }) => alert).sort(), 'and no section without an alert')
})

t.test('the PodMonitors find the port of the metrics at the pods that the manifests make', async (t) => {
  const monitors = await readManifest('manifests/monitoring/pod-monitors.yaml')
  const [, , webhook] = await readManifest('manifests/webhook.yaml')
  const [knative] = await readManifest('knative.yaml')
  const [, plain] = await readManifest('overlays/without-knative/function.yaml')
  const [ofWebhook, ofKnative, ofPlain] = monitors
  interface Named {
    readonly name: string
    readonly value?: string
    readonly containerPort?: number
  }
  for (const [monitor, { spec, metadata }] of [
    [ofWebhook, webhook.spec.template],
    [ofPlain, plain.spec.template],
  ] as const) {
    t.match(metadata.labels, monitor.spec.selector.matchLabels)
    const [endpoint] = monitor.spec.podMetricsEndpoints
    const [{ ports, env }] = spec.containers
    const port = ports.find(({ name }: Named) => name === endpoint.port)
    t.equal(String(port.containerPort), env.find(({ name }: Named) => name === 'METRICS_PORT').value)
  }
  const [endpoint] = ofKnative.spec.podMetricsEndpoints
  const [{ env }] = knative.spec.template.spec.containers
  const { value } = env.find(({ name }: Named) => name === 'METRICS_PORT')
  const [{ regex, replacement }] = endpoint.relabelings
  const rewrite = (address: string) => address.replace(new RegExp(`^${regex}$`), replacement)
  t.equal(rewrite('10.0.0.7:8080'), `10.0.0.7:${value}`)
  t.equal(rewrite('[fd00::7]:8080'), `[fd00::7]:${value}`)
  t.strictSame(ofKnative.spec.selector.matchLabels, {
    'serving.knative.dev/service': knative.metadata.name,
  })
  for (const { metadata } of [...monitors, rules]) t.equal(metadata.namespace, knative.metadata.namespace)
})
