/** A query of a panel: PromQL, and how its series are named (Grafana's syntax). */
interface Query {
  readonly expr: string
  readonly legend: string
}

/** One panel, with the unit of its values in the terms of Grafana. */
interface Panel {
  readonly title: string
  readonly description: string
  readonly unit: 'ops' | 's' | 'bytes' | 'Bps' | 'short' | 'percentunit'
  readonly queries: readonly Query[]
}

interface Row {
  readonly title: string
  readonly panels: readonly Panel[]
}

const WINDOW = '[$__rate_interval]'

function one(expr: string, legend: string): readonly Query[] {
  return [{ expr, legend }]
}

/** The median and the 95th percentile of a histogram, by these labels. */
function quantiles(metric: string, by: readonly string[] = []): readonly Query[] {
  const labels = ['le', ...by].join(', ')
  const shown = by.map((label) => `{{${label}}} `).join('')
  return [0.5, 0.95].map((quantile) => ({
    expr: `histogram_quantile(${quantile}, sum by (${labels}) (rate(${metric}_bucket${WINDOW})))`,
    legend: `${shown}p${quantile * 100}`,
  }))
}

/** The rate of a counter, by these labels. */
function rates(metric: string, by: readonly string[]): readonly Query[] {
  return one(
    `sum by (${by.join(', ')}) (rate(${metric}${WINDOW}))`,
    by.map((label) => `{{${label}}}`).join(' '),
  )
}

/** What the dashboard shows, from the user's side to the machine's. */
export const ROWS: readonly Row[] = [
  {
    title: 'Overview (of the webhook, which always runs)',
    panels: [
      {
        title: 'From apply to the end of the attempt',
        description: 'Delivered events, from admission or sweep to the answer of the function.',
        unit: 's',
        queries: quantiles('commitlet_delivery_duration_seconds', ['kind']),
      },
      {
        title: 'Events',
        description:
          'Sent to the function. A sweep finds the resources of those that failed or were dropped.',
        unit: 'ops',
        queries: rates('commitlet_events_total', ['outcome']),
      },
      {
        title: 'Resources that are not settled',
        description:
          'As the last sweep listed them. Retrying: an attempt failed, and a later one will be made.',
        unit: 'short',
        queries: one('max by (kind, phase) (commitlet_unsettled_resources)', '{{kind}} {{phase}}'),
      },
      {
        title: 'Waiting events',
        description: 'Events that are not sent yet, and those without an answer.',
        unit: 'short',
        queries: [
          { expr: 'sum(commitlet_waiting_events)', legend: 'waiting' },
          { expr: 'sum(commitlet_open_events)', legend: 'sent, without an answer' },
        ],
      },
      {
        title: 'Age of what waits',
        description: 'The oldest event that is not sent, and the resource that is due for longest.',
        unit: 's',
        queries: [
          { expr: 'max(commitlet_waiting_events_oldest_seconds)', legend: 'oldest event' },
          { expr: 'max(commitlet_sweep_overdue_seconds)', legend: 'longest overdue resource' },
        ],
      },
      {
        title: 'Found by sweeps',
        description: 'Resources that were due without an event on its way: retries, and lost events.',
        unit: 'ops',
        queries: rates('commitlet_sweep_events_total', ['sweep', 'kind']),
      },
    ],
  },
  {
    title: 'Admission',
    panels: [
      {
        title: 'Reviews',
        description: 'Decisions by webhook and outcome.',
        unit: 'ops',
        queries: rates('commitlet_admission_duration_seconds_count', ['webhook', 'outcome']),
      },
      {
        title: 'Time of a decision',
        description: 'From the parsed review to the decision.',
        unit: 's',
        queries: quantiles('commitlet_admission_duration_seconds', ['webhook']),
      },
      {
        title: 'Denials by reason',
        description: 'By the first reason that the user is told.',
        unit: 'ops',
        queries: rates('commitlet_admission_denials_total', ['reason']),
      },
    ],
  },
  {
    title: 'Attempts (of the function, while it has a pod)',
    panels: [
      {
        title: 'Attempts by reason',
        description: 'Results of attempts.',
        unit: 'ops',
        queries: rates('commitlet_attempts_total', ['kind', 'reason']),
      },
      {
        title: 'Attempts by host and engine',
        description: 'Software of the host, and what talked to it.',
        unit: 'ops',
        queries: rates('commitlet_attempts_total', ['provider', 'engine']),
      },
      {
        title: 'Time of an attempt',
        description: 'From the claim to the written result.',
        unit: 's',
        queries: quantiles('commitlet_attempt_duration_seconds', ['outcome']),
      },
      {
        title: 'From apply to Ready',
        description: 'With all retries, by the clock of the API server, in whole seconds.',
        unit: 's',
        queries: quantiles('commitlet_ready_duration_seconds', ['kind']),
      },
      {
        title: 'Work that runs and waits',
        description: 'Changes that are prepared, sessions, large sessions of the git binary, edits of files.',
        unit: 'short',
        queries: [
          { expr: 'sum by (work) (commitlet_running)', legend: '{{work}} runs' },
          { expr: 'sum by (work) (commitlet_waiting)', legend: '{{work}} waits' },
        ],
      },
      {
        title: 'Held memory',
        description: 'Of the budget of a pod.',
        unit: 'bytes',
        queries: one('sum by (work) (commitlet_held_bytes)', '{{work}}'),
      },
    ],
  },
  {
    title: 'Git and APIs',
    panels: [
      {
        title: 'Commits per push',
        description: 'Commits for one branch that come together are pushed together.',
        unit: 'short',
        queries: quantiles('commitlet_commits_per_push'),
      },
      {
        title: 'Steps with Git remotes',
        description: 'The 95th percentile of each step.',
        unit: 's',
        queries: one(
          `histogram_quantile(0.95, sum by (le, step, engine) (rate(commitlet_git_duration_seconds_bucket${WINDOW})))`,
          '{{step}} {{engine}}',
        ),
      },
      {
        title: 'Bytes with Git remotes',
        description: 'Of the direct engine.',
        unit: 'Bps',
        queries: rates('commitlet_git_bytes_total', ['direction']),
      },
      {
        title: 'Calls to the APIs of hosts',
        description: 'By status; `none`: no answer.',
        unit: 'ops',
        queries: rates('commitlet_provider_request_duration_seconds_count', ['provider', 'code']),
      },
      {
        title: 'Calls to the API server',
        description: 'By resource and status.',
        unit: 'ops',
        queries: rates('commitlet_kubernetes_request_duration_seconds_count', ['resource', 'code']),
      },
      {
        title: 'Time of the API server',
        description: 'The 95th percentile by resource.',
        unit: 's',
        queries: one(
          `histogram_quantile(0.95, sum by (le, resource) (rate(commitlet_kubernetes_request_duration_seconds_bucket${WINDOW})))`,
          '{{resource}}',
        ),
      },
    ],
  },
  {
    title: 'Processes',
    panels: [
      {
        title: 'CPU',
        description: 'Cores, without the git binary.',
        unit: 'short',
        queries: one(
          `sum by (pod) (rate(process_cpu_seconds_total{namespace="commitlet-system"}${WINDOW}))`,
          '{{pod}}',
        ),
      },
      {
        title: 'Memory',
        description: 'Resident, without the git binary.',
        unit: 'bytes',
        queries: one('process_resident_memory_bytes{namespace="commitlet-system"}', '{{pod}}'),
      },
      {
        title: 'Delay of the event loop',
        description: 'The longest since the scrape before.',
        unit: 's',
        queries: one('max by (pod) (commitlet_event_loop_delay_seconds{statistic="max"})', '{{pod}}'),
      },
    ],
  },
]

const WIDTH = 8
const HEIGHT = 8
const PER_LINE = 3
const DATASOURCE = { type: 'prometheus', uid: '${datasource}' }

/** The dashboard for Grafana as JSON text: https://grafana.com/docs/grafana/latest/dashboards/build-dashboards/view-dashboard-json-model/ */
export function dashboardText(): string {
  const panels: unknown[] = []
  let y = 0
  for (const { title, panels: own } of ROWS) {
    panels.push({ id: panels.length + 1, type: 'row', title, gridPos: { x: 0, y, w: 24, h: 1 }, panels: [] })
    own.forEach((panel, index) => {
      const [column, line] = [index % PER_LINE, Math.floor(index / PER_LINE)]
      const gridPos = { x: column * WIDTH, y: y + 1 + line * HEIGHT, w: WIDTH, h: HEIGHT }
      panels.push(panelOf(panel, panels.length + 1, gridPos))
    })
    y += 1 + Math.ceil(own.length / PER_LINE) * HEIGHT
  }
  return `${JSON.stringify({ ...FRAME, panels }, undefined, 2)}\n`
}

function panelOf({ title, description, unit, queries }: Panel, id: number, gridPos: object): object {
  return {
    id,
    type: 'timeseries',
    title,
    description,
    gridPos,
    datasource: DATASOURCE,
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    options: {
      legend: { displayMode: 'list', placement: 'bottom' },
      tooltip: { mode: 'multi', sort: 'desc' },
    },
    targets: queries.map(({ expr, legend }, index) => ({
      refId: String.fromCharCode('A'.charCodeAt(0) + index),
      datasource: DATASOURCE,
      expr,
      legendFormat: legend,
    })),
  }
}

const FRAME = {
  uid: 'commitlet',
  title: 'Commitlet',
  tags: ['commitlet'],
  schemaVersion: 39,
  version: 1,
  editable: true,
  refresh: '30s',
  time: { from: 'now-3h', to: 'now' },
  templating: {
    list: [{ name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus' }],
  },
}
