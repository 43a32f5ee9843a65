import type { Logger } from 'pino'
import type { Cluster, ListedResource } from '../cluster.ts'
import { errorLogFields } from '../../domain/error-log-fields.ts'
import { Failure } from '../../domain/failure.ts'
import type { Kind } from '../../domain/resource/api-names.ts'
import type { ObjectRef } from '../../domain/resource/resource.ts'
import type { Sweep } from './due.ts'
import { makeBeyond } from './beyond.ts'
import { dueAt, isDue, isFollowerDue, isRetry, needsLook } from './due.ts'
import { makeRetryPace, type RetryPace } from './retry-pace.ts'

/** Where the resources go that a sweep has found. */
export interface SweepSink {
  /** False if there was no room for it, or it is gone. Throws a Failure if the API server is not available. */
  readonly announce: (ref: ListedResource['ref']) => Promise<boolean>
  /** Whether there is room for another resource of this namespace. */
  readonly hasRoom: (namespace: string) => boolean
  /** Whether the resource was announced a moment ago, or waits for that. */
  readonly isUnderway: (ref: ObjectRef) => boolean
}

/** What a sweep uses. */
export interface Sweeper {
  readonly cluster: Pick<Cluster, 'listPage' | 'listUnsettled' | 'now'>
  readonly sink: SweepSink
  readonly log: Logger
}

/** What a round has found and done so far. */
export interface Tally {
  /** The earliest time from now on at which a resource becomes due, in milliseconds since 1970; Infinity without one. */
  earliest: number
  /** Whether there was no room for the event of a resource that is due, or it is one retry too many for now. */
  isCrowded: boolean
  readonly sent: Record<Kind, number>
  /** Resources that were due and had no event underway. */
  readonly due: Record<Kind, number>
  /** The earliest time of one of these that has one, in milliseconds since 1970; Infinity without one. */
  dueSince: number
}

/** Announces what one round finds. */
export interface Announcer {
  readonly tally: Tally
  /** The rows that are due, or wait for something that has to be looked at, and have no event underway. */
  readonly select: (rows: readonly ListedResource[]) => readonly ListedResource[]
  readonly hasRoom: (namespace: string) => boolean
  /**
   * Announces these rows where there is room. Rejects when the API server is not available; a single resource that cannot
   * be used is logged.
   */
  readonly announce: (rows: readonly ListedResource[]) => Promise<void>
  /** Announces retries beyond those that their namespaces have, in turns of these, as many as all may share. Rejects as `announce`. */
  readonly announceShared: () => Promise<void>
}

/** Reads at once: a quarter of the connections to the API server, which admission uses too. */
const READS = 16

/** What a round looks for: `since` is when the one before began, in milliseconds since 1970. */
export interface RoundScope {
  readonly sweep: Sweep
  readonly since: number
  /** Default: one of its own. */
  readonly pace?: RetryPace
}

/** Makes the announcer of one round, which `signal` ends. */
export function makeAnnouncer(
  sweeper: Sweeper,
  { sweep, since, pace = makeRetryPace() }: RoundScope,
  signal: AbortSignal,
): Announcer {
  const { cluster, sink } = sweeper
  const beyond = makeBeyond()
  const span = { since, now: cluster.now().getTime() }
  const tally: Tally = {
    earliest: Infinity,
    isCrowded: false,
    sent: { GitCommit: 0, PullRequest: 0 },
    due: { GitCommit: 0, PullRequest: 0 },
    dueSince: Infinity,
  }

  function select(rows: readonly ListedResource[]): readonly ListedResource[] {
    const now = cluster.now().getTime()
    // The other sweep finds what becomes due: a full one, which lists everything, must not begin earlier for it.
    const later = sweep === 'unsettled' ? rows.map(dueAt).filter((time) => time > now) : []
    tally.earliest = Math.min(tally.earliest, ...later)
    const isNamed = (row: ListedResource): boolean =>
      sweep === 'followers'
        ? isFollowerDue(row, span)
        : isDue(row, sweep, now) || (sweep === 'unsettled' && needsLook(row, span))
    const due = rows.filter((row) => isNamed(row) && !sink.isUnderway(row.ref))
    due.forEach(count)
    return due
  }

  function count(row: ListedResource): void {
    tally.due[row.ref.kind] += 1
    const since = dueAt(row)
    // One that was never started has no such time.
    if (since > 0) tally.dueSince = Math.min(tally.dueSince, since)
  }

  function hasRoom(namespace: string): boolean {
    const room = sink.hasRoom(namespace)
    if (!room) tally.isCrowded = true
    return room
  }

  function isInPace(row: ListedResource): boolean {
    if (!isRetry(row, span.now) || pace.own(row.ref.namespace)) return true
    if (!beyond.add(row)) tally.isCrowded = true
    return false
  }

  function isShared(): boolean {
    const isAllowed = pace.shared()
    if (!isAllowed) tally.isCrowded = true
    return isAllowed
  }

  async function announceThose(
    rows: Iterable<ListedResource>,
    isAllowed: (row: ListedResource) => boolean,
  ): Promise<void> {
    await inParallel(rows, async (row) => {
      const { ref } = row
      // Checked for each row: those before it may have taken the room.
      if (signal.aborted || sink.isUnderway(ref) || !hasRoom(ref.namespace) || !isAllowed(row)) return
      if (await handOn(sweeper, ref)) tally.sent[ref.kind] += 1
    })
  }

  const announce: Announcer['announce'] = (rows) => announceThose(rows, isInPace)
  const announceShared = (): Promise<void> => announceThose(beyond.inTurns(), isShared)

  return { tally, select, hasRoom, announce, announceShared }
}

async function handOn({ sink, log }: Sweeper, ref: ListedResource['ref']): Promise<boolean> {
  try {
    return await sink.announce(ref)
  } catch (error) {
    // One resource that cannot be used must not end the round, but an API server that is down does.
    if (error instanceof Failure && error.retry === 'transient') throw error
    log.warn({ resource: ref, origin: errorLogFields(error) }, 'a sweep cannot use a resource')
    return false
  }
}

/** Works on some items at once. After an error no further one is begun; then waits for the others and throws it. */
async function inParallel<T>(items: Iterable<T>, work: (item: T) => Promise<void>): Promise<void> {
  const rest = eachOf(items)
  const workers = Array.from({ length: READS }, async () => {
    // An error in this loop closes the generator for all workers, which an array's own iterator would not do.
    for (const item of rest) await work(item)
  })
  await Promise.allSettled(workers)
  await Promise.all(workers)
}

function* eachOf<T>(items: Iterable<T>): Generator<T> {
  yield* items
}
