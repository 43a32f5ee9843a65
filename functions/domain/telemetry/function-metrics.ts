import type { Metric } from './meter.ts'
import { CALL_BUCKETS } from './program-metrics.ts'

/** Upper bounds in seconds of a whole attempt: it ends after 540 s at most. */
const ATTEMPT_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600] as const
/** Upper bounds in seconds from apply to Ready: whole seconds at first, because the API server tells no others. */
const READY_BUCKETS = [1, 2, 3, 5, 10, 20, 30, 60, 120, 300, 900, 3_600, 21_600] as const

/** The value of the label `provider` for a repository whose host has no row in the table of hosts. */
export const OTHER_PROVIDER = 'other'

/**
 * What the function measures. `provider` is the name of a row of the table of hosts, or `other`; `engine` is `direct` or
 * `binary` (functions/git), `api` for pull requests, `none` where an attempt ended before it was needed.
 */
export const FUNCTION_METRICS = {
  events: {
    name: 'commitlet_received_events_total',
    type: 'counter',
    help: 'Events that were received, by the status of the answer.',
    labels: ['code'],
  },
  attempts: {
    name: 'commitlet_attempts_total',
    type: 'counter',
    help: 'Attempts that have ended, by their result.',
    labels: ['kind', 'reason', 'provider', 'engine'],
  },
  attemptDuration: {
    name: 'commitlet_attempt_duration_seconds',
    type: 'histogram',
    help: 'Attempts from their claim to the written result.',
    labels: ['kind', 'outcome'],
    buckets: ATTEMPT_BUCKETS,
  },
  ready: {
    name: 'commitlet_ready_duration_seconds',
    type: 'histogram',
    help: 'From the last apply of a resource until it was Ready, by the clock of the API server, in whole seconds.',
    labels: ['kind', 'provider'],
    buckets: READY_BUCKETS,
  },
  running: {
    name: 'commitlet_running',
    type: 'gauge',
    help: 'Pieces of work that run: changes that are prepared, sessions with remotes and APIs, large sessions of the git binary, edits of files.',
    labels: ['work'],
  },
  waiting: {
    name: 'commitlet_waiting',
    type: 'gauge',
    help: 'Pieces of work that wait for their turn.',
    labels: ['work'],
  },
  waitingAge: {
    name: 'commitlet_waiting_oldest_seconds',
    type: 'gauge',
    help: 'How long the oldest of them has waited; 0 without one.',
    labels: ['work'],
  },
  heldBytes: {
    name: 'commitlet_held_bytes',
    type: 'gauge',
    help: 'Memory of the budget that is taken, by what runs and by changes that wait for their push.',
    labels: ['work'],
  },
  commitsPerPush: {
    name: 'commitlet_commits_per_push',
    type: 'histogram',
    help: 'Commits in one push that landed.',
    labels: ['engine'],
    buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500],
  },
  gitDuration: {
    name: 'commitlet_git_duration_seconds',
    type: 'histogram',
    help: 'Steps of sessions with Git remotes: tip, tree, files, write, push, search. A step that is handed over is done again by the git binary.',
    labels: ['step', 'engine', 'outcome'],
    buckets: CALL_BUCKETS,
  },
  gitBytes: {
    name: 'commitlet_git_bytes_total',
    type: 'counter',
    help: 'Bytes that the direct engine sent to and received from Git remotes; those of the git binary are not known.',
    labels: ['direction'],
  },
  apiDuration: {
    name: 'commitlet_provider_request_duration_seconds',
    type: 'histogram',
    help: 'Calls to the APIs of Git hosts, until the whole answer was read.',
    labels: ['provider', 'method', 'code'],
    buckets: CALL_BUCKETS,
  },
  apiBytes: {
    name: 'commitlet_provider_bytes_total',
    type: 'counter',
    help: 'Bytes of the bodies that were sent to and received from the APIs of Git hosts.',
    labels: ['provider', 'direction'],
  },
} as const satisfies Readonly<Record<string, Metric>>
