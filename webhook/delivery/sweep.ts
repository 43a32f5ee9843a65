import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Cluster, ListedResource } from '../../functions/cluster/cluster.ts'
import { appliedEvent } from '../../functions/domain/event/applied-event.ts'
import { Failure } from '../../functions/domain/failure.ts'
import type { Kind } from '../../functions/domain/resource/resource.ts'
import { PLURALS } from '../../functions/domain/resource/resource.ts'
import { errorLogFields, reasonOf } from '../../functions/domain/error-log-fields.ts'
import type { Sink } from './sink.ts'

const KINDS = ['GitCommit', 'PullRequest'] as const

/** `unsettled`: resources that are not settled. `full`: also settled ones that changed without an event arriving. */
export type Sweep = 'unsettled' | 'full'

/** Milliseconds between two sweeps of a kind; 0 disables it. */
export interface Intervals {
  readonly unsettledMs: number
  readonly fullMs: number
}

/** What a sweep uses. */
export interface Sweeper {
  readonly cluster: Pick<Cluster, 'listUnsettled' | 'listAll' | 'readResource'>
  readonly sink: Pick<Sink, 'send' | 'isUnderway'>
  readonly log: Logger
}

/**
 * Whether the resource needs an event. An unsettled resource does if no attempt has started or its `nextAttemptTime`
 * (which a claim also sets) has passed; in a full sweep, a resource does if its spec or request is newer than its status.
 * `now` is in milliseconds since 1970.
 */
export function isDue(listed: ListedResource, sweep: Sweep, now: number): boolean {
  if (listed.deleting) return false
  if (sweep === 'unsettled') {
    // A time that cannot be parsed counts as passed: every comparison with NaN is false.
    return listed.nextAttemptTime === undefined || !(Date.parse(listed.nextAttemptTime) > now)
  }
  if (listed.ref.generation > listed.observedGeneration) return true
  return listed.requestedAt !== undefined && listed.requestedAt !== listed.lastHandledRequestedAt
}

/**
 * Sweeps until the returned function is called, which waits for a running sweep. Sweeps never overlap; the full sweep
 * also runs at startup. Each replica of the webhook sweeps: an additional event is harmless, because the claim (one
 * status write guarded by the resourceVersion) allows only one attempt.
 */
export function startSweeps(sweeper: Sweeper, intervals: Intervals): () => Promise<void> {
  const stop = new AbortController()
  const sweeping = sweepByInterval(sweeper, intervals, stop.signal)
  return async () => {
    stop.abort()
    await sweeping
  }
}

async function sweepByInterval(sweeper: Sweeper, intervals: Intervals, signal: AbortSignal): Promise<void> {
  const startedAt = performance.now()
  const dueAt: Record<Sweep, number> = {
    unsettled: startedAt + pauseOf(intervals.unsettledMs),
    full: intervals.fullMs === 0 ? Number.POSITIVE_INFINITY : startedAt,
  }
  for (;;) {
    const next: Sweep = dueAt.full <= dueAt.unsettled ? 'full' : 'unsettled'
    if (dueAt[next] === Number.POSITIVE_INFINITY) return
    const wait = Math.max(0, dueAt[next] - performance.now())
    await pause(wait, undefined, { signal, ref: false }).catch(() => undefined)
    for (const kind of KINDS) {
      if (signal.aborted) return
      await sweepKind(sweeper, { kind, sweep: next }, signal)
    }
    dueAt[next] = performance.now() + pauseOf(next === 'full' ? intervals.fullMs : intervals.unsettledMs)
  }
}

/** The interval with jitter of a tenth, so that replicas do not call the API server in step. */
function pauseOf(intervalMs: number): number {
  return intervalMs === 0 ? Number.POSITIVE_INFINITY : intervalMs * (0.9 + Math.random() / 5)
}

async function sweepKind(
  sweeper: Sweeper,
  { kind, sweep }: { readonly kind: Kind; readonly sweep: Sweep },
  signal: AbortSignal,
): Promise<void> {
  const { cluster, log } = sweeper
  let sent = 0
  try {
    const listed = sweep === 'full' ? cluster.listAll(kind) : cluster.listUnsettled(kind)
    for await (const row of listed) {
      if (signal.aborted) return
      if (!isDue(row, sweep, Date.now()) || sweeper.sink.isUnderway(row.ref)) continue
      const outcome = await sendEvent(sweeper, row)
      if (outcome === 'sent') sent += 1
      if (outcome === 'full') break
    }
  } catch (error) {
    log.warn(
      { sweep, resources: PLURALS[kind], reason: reasonOf(error), origin: errorLogFields(error) },
      'a sweep failed; the next one continues',
    )
  }
  log[sent > 0 ? 'info' : 'debug']({ sweep, resources: PLURALS[kind], events: sent }, 'swept')
}

/** Reads the resource again, because the event needs its partition key. A deleted resource gets no event. */
async function sendEvent(
  { cluster, sink, log }: Sweeper,
  row: ListedResource,
): Promise<'sent' | 'none' | 'full'> {
  try {
    const resource = await cluster.readResource(row.ref)
    if (resource === undefined) return 'none'
    return sink.send(appliedEvent(resource, randomUUID())) ? 'sent' : 'full'
  } catch (error) {
    // One resource that cannot be used must not end the sweep, but an API server that is down does.
    if (error instanceof Failure && error.retry === 'transient') throw error
    log.warn({ resource: row.ref, origin: errorLogFields(error) }, 'a sweep cannot use a resource')
    return 'none'
  }
}
