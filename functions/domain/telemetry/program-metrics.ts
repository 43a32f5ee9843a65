import type { Metric } from './meter.ts'

/** Upper bounds, in seconds, of what one call to an API or one step of an attempt takes. */
export const CALL_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] as const

/** Statuses that say different things to an operator; a server may send any of hundreds. */
const KNOWN_CODES: readonly number[] = [
  200, 201, 202, 204, 301, 302, 304, 400, 401, 403, 404, 405, 409, 410, 413, 422, 429, 500, 502, 503, 504,
]

/** The label `code` of an HTTP status: itself if it is usual, else its class, such as `4xx`; `none` without an answer. */
export function codeLabel(status: number | undefined): string {
  if (status === undefined) return 'none'
  return KNOWN_CODES.includes(status) ? String(status) : `${Math.floor(status / 100)}xx`
}

/** What both programs measure; `code` as `codeLabel` has it. */
export const PROGRAM_METRICS = {
  kubernetesDuration: {
    name: 'commitlet_kubernetes_request_duration_seconds',
    type: 'histogram',
    help: 'Calls to the API server of Kubernetes, until the whole answer was read.',
    labels: ['method', 'resource', 'code'],
    buckets: CALL_BUCKETS,
  },
  kubernetesBytes: {
    name: 'commitlet_kubernetes_bytes_total',
    type: 'counter',
    help: 'Bytes of the bodies that were sent to and received from the API server of Kubernetes.',
    labels: ['direction'],
  },
  loopDelay: {
    name: 'commitlet_event_loop_delay_seconds',
    type: 'gauge',
    help: 'How late the event loop was since the last scrape: mean, p99 and max.',
    labels: ['statistic'],
  },
  loopStalls: {
    name: 'commitlet_event_loop_stalls_total',
    type: 'counter',
    help: 'How often the event loop stood still for more than 100 ms.',
    labels: [],
  },
  spans: {
    name: 'commitlet_spans_total',
    type: 'counter',
    help: 'Spans of traces: sent, failed (the collector did not take them), or dropped for lack of room.',
    labels: ['outcome'],
  },
  cpu: {
    name: 'process_cpu_seconds_total',
    type: 'counter',
    help: 'CPU time of the process, user and system together, without the git binary.',
    labels: [],
  },
  memory: {
    name: 'process_resident_memory_bytes',
    type: 'gauge',
    help: 'Resident memory of the process, without the git binary.',
    labels: [],
  },
  started: {
    name: 'process_start_time_seconds',
    type: 'gauge',
    help: 'When the process was started, in seconds since 1970.',
    labels: [],
  },
} as const satisfies Readonly<Record<string, Metric>>
