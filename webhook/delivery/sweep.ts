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

/** `unsettled`: what is not settled. `full`: also what has changed since, where no event arrived. */
export type Sweep = 'unsettled' | 'full'

/** Milliseconds between two sweeps of a sort; 0 turns it off. */
export interface Intervals {
  readonly unsettledMs: number
  readonly fullMs: number
}

/** What a sweep works with. */
export interface Sweeper {
  readonly cluster: Pick<Cluster, 'listUnsettled' | 'listAll' | 'readResource'>
  readonly sink: Pick<Sink, 'send' | 'isUnderway'>
  readonly log: Logger
}

/**
 * Does the resource need an event? Of the unsettled ones those that were never started or whose
 * `nextAttemptTime` has passed (a claim sets it too); of all those whose spec or request is newer than what
 * their status answers. `now` is in milliseconds since 1970.
 */
export function isDue(listed: ListedResource, sweep: Sweep, now: number): boolean {
  if (listed.deleting) return false
  if (sweep === 'unsettled') {
    // A time that cannot be read is no reason to wait for it: NaN compares as passed.
    return listed.nextAttemptTime === undefined || !(Date.parse(listed.nextAttemptTime) > now)
  }
  if (listed.ref.generation > listed.observedGeneration) return true
  return listed.requestedAt !== undefined && listed.requestedAt !== listed.lastHandledRequestedAt
}

/**
 * Sweeps until the answered function is called, which waits for the round that runs. Never two rounds at once;
 * the full one also at the start. Each replica of the webhook sweeps: an event too many is harmless, because
 * the claim (one status write guarded by the resourceVersion) lets a single attempt through.
 */
export function startSweeps(sweeper: Sweeper, intervals: Intervals): () => Promise<void> {
  const stop = new AbortController()
  const round = sweepByInterval(sweeper, intervals, stop.signal)
  return async () => {
    stop.abort()
    await round
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

/** The interval with a tenth of jitter, so that replicas do not ask the API server in step. */
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
      const outcome = await announce(sweeper, row)
      if (outcome === 'sent') sent += 1
      if (outcome === 'full') break
    }
  } catch (error) {
    log.warn(
      { sweep, resources: PLURALS[kind], reason: reasonOf(error), origin: errorLogFields(error) },
      'a sweep failed; the next one goes on',
    )
  }
  log[sent > 0 ? 'info' : 'debug']({ sweep, resources: PLURALS[kind], events: sent }, 'swept')
}

/** Read again, so that the event carries the partition key; a resource that is gone needs none. */
async function announce(
  { cluster, sink, log }: Sweeper,
  row: ListedResource,
): Promise<'sent' | 'none' | 'full'> {
  try {
    const resource = await cluster.readResource(row.ref)
    if (resource === undefined) return 'none'
    return sink.send(appliedEvent(resource, randomUUID())) ? 'sent' : 'full'
  } catch (error) {
    // One resource that cannot be used must not keep the rest of the round away; an API server that is down does.
    if (error instanceof Failure && error.retry === 'transient') throw error
    log.warn({ resource: row.ref, origin: errorLogFields(error) }, 'a sweep cannot use a resource')
    return 'none'
  }
}
