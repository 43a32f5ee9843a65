import type { Metric } from '../functions/domain/telemetry/meter.ts'

/** Upper bounds in seconds of a decision: the API server waits 10 s. */
const DECISION_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const
/** Upper bounds in seconds of a delivery: with the function as sink it ends with the attempt. */
const DELIVERY_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600] as const
const SWEEP_BUCKETS = [0.05, 0.25, 1, 5, 30, 120, 600] as const

/** What the webhook measures. Alerts rest on it: it always runs, and a scrape of the function would find no pod. */
export const WEBHOOK_METRICS = {
  decisionDuration: {
    name: 'commitlet_admission_duration_seconds',
    type: 'histogram',
    help: 'Reviews of the API server, from the parsed review to the decision: allowed, denied, or undecided.',
    labels: ['webhook', 'outcome'],
    buckets: DECISION_BUCKETS,
  },
  denials: {
    name: 'commitlet_admission_denials_total',
    type: 'counter',
    help: 'Reviews that were denied or not decided, by the first reason that the user is told.',
    labels: ['webhook', 'kind', 'reason'],
  },
  reviewing: {
    name: 'commitlet_admission_in_hand',
    type: 'gauge',
    help: 'Reviews that are being decided.',
    labels: [],
  },
  events: {
    name: 'commitlet_events_total',
    type: 'counter',
    help: 'Events for the sink: delivered, failed (given up after retries), or dropped for lack of room. A sweep finds the resources of the others.',
    labels: ['outcome'],
  },
  deliveryDuration: {
    name: 'commitlet_delivery_duration_seconds',
    type: 'histogram',
    help: 'Delivered events, from admission or sweep to the answer of the sink; with the function as sink, to the end of the attempt.',
    labels: ['kind'],
    buckets: DELIVERY_BUCKETS,
  },
  waitingEvents: {
    name: 'commitlet_waiting_events',
    type: 'gauge',
    help: 'Events that wait until they are sent.',
    labels: [],
  },
  waitingBytes: {
    name: 'commitlet_waiting_events_bytes',
    type: 'gauge',
    help: 'Bytes of the data of these events.',
    labels: [],
  },
  waitingAge: {
    name: 'commitlet_waiting_events_oldest_seconds',
    type: 'gauge',
    help: 'How long the oldest of them has waited; 0 without one.',
    labels: [],
  },
  openEvents: {
    name: 'commitlet_open_events',
    type: 'gauge',
    help: 'Events that were sent and have no answer yet.',
    labels: [],
  },
  sweepDuration: {
    name: 'commitlet_sweep_duration_seconds',
    type: 'histogram',
    help: 'Rounds of the sweeps.',
    labels: ['sweep'],
    buckets: SWEEP_BUCKETS,
  },
  sweepFailures: {
    name: 'commitlet_sweep_failures_total',
    type: 'counter',
    help: 'Lists that a round could not read to the end; the next round continues.',
    labels: ['sweep', 'kind'],
  },
  sweepEvents: {
    name: 'commitlet_sweep_events_total',
    type: 'counter',
    help: 'Resources that a sweep found due without an event on its way, and sent one for.',
    labels: ['sweep', 'kind'],
  },
  sweepFinished: {
    name: 'commitlet_sweep_finished_timestamp_seconds',
    type: 'gauge',
    help: 'When the last round without a failure ended, in seconds since 1970.',
    labels: ['sweep'],
  },
  due: {
    name: 'commitlet_sweep_due_resources',
    type: 'gauge',
    help: 'Resources that the last round found due and without an event on its way.',
    labels: ['sweep', 'kind'],
  },
  overdue: {
    name: 'commitlet_sweep_overdue_seconds',
    type: 'gauge',
    help: 'How long the time of the resource that waits longest has passed, as the last round found it; 0 without one.',
    labels: [],
  },
  unsettled: {
    name: 'commitlet_unsettled_resources',
    type: 'gauge',
    help: 'Resources that are not settled, as the last round listed them; of namespaces with more than 500, a part.',
    labels: ['kind', 'phase'],
  },
  certificateExpiry: {
    name: 'commitlet_certificate_expiry_timestamp_seconds',
    type: 'gauge',
    help: 'When the serving certificate expires, in seconds since 1970.',
    labels: [],
  },
} as const satisfies Readonly<Record<string, Metric>>
