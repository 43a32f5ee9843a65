import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { anySignal } from '../../functions/domain/deadline.ts'
import type { Cluster } from '../../functions/cluster/cluster.ts'
import type { Sweeper } from '../../functions/cluster/sweep/announce.ts'
import type { Sweep } from '../../functions/cluster/sweep/due.ts'
import type { Changes } from '../../functions/cluster/sweep/changes.ts'
import { makeFollowedRounds } from '../../functions/cluster/sweep/followed-rounds.ts'
import type { Followers } from '../../functions/cluster/sweep/followers.ts'
import { makeFollowersRounds } from '../../functions/cluster/sweep/followers-rounds.ts'
import { makeRounds } from '../../functions/cluster/sweep/round.ts'
import { appliedEvent } from '../../functions/domain/event/applied-event.ts'
import { NO_METER } from '../../functions/domain/telemetry/meter.ts'
import type { Meter } from '../../functions/domain/telemetry/meter.ts'
import type { Round, RoundResult } from '../../functions/cluster/sweep/round.ts'
import { makePause, type Pause } from './pause.ts'
import type { Sink } from './sink.ts'
import { forgetFigures, logRound, measureRound } from './sweep-figures.ts'
import type { SweepTurn } from './sweep-turn.ts'

/** What the sweeps of the webhook use. */
export interface SweepParts {
  readonly cluster: Pick<Cluster, 'listPage' | 'listUnsettled' | 'now' | 'readResource'>
  readonly sink: Pick<Sink, 'send' | 'hasRoom' | 'isUnderway' | 'onDropped'>
  readonly log: Logger
  /** When this replica sweeps; default: always. */
  readonly turn?: SweepTurn | undefined
  /** What has changed since a list of everything; default: each full sweep lists everything. */
  readonly changes?: Changes | undefined
  /** The followers; default: each sweep for them lists them. */
  readonly followers?: Followers | undefined
}

/** Milliseconds between two sweeps of a kind; 0 disables it. */
export interface Intervals {
  readonly unsettledMs: number
  readonly fullMs: number
}

/** Least pause between two rounds, unless the interval itself is shorter: several times that come soon share a round. */
const LEAST_PAUSE_MS = 5_000
/** A round that begins before its interval lists nothing for nine times as long as the lists of the last one took. */
const REST = 9

/**
 * Sweeps until the returned function is called, which waits for running sweeps. Two sweeps of the same sort never overlap.
 * The full sweep also runs at startup; that of what is not settled also runs when a resource becomes due that it has listed, and soon
 * after an event was dropped. Both begin when it becomes this replica's turn. It does no harm if two replicas sweep: the
 * claim (one status write guarded by the resourceVersion) allows only one attempt.
 */
export function startSweeps(
  parts: SweepParts,
  intervals: Intervals,
  meter: Meter = NO_METER,
): () => Promise<void> {
  const stop = new AbortController()
  const pauses = { unsettled: makePause(), full: makePause(), followers: makePause() }
  parts.sink.onDropped(pauses.unsettled.wake)
  const schedule = (sweep: Sweep, intervalMs: number): Schedule => ({
    ...{ sweep, intervalMs, meter },
    pause: pauses[sweep].pause,
  })
  const sweeping = [
    sweepInTurn(parts, schedule('unsettled', intervals.unsettledMs), stop.signal),
    sweepInTurn(parts, schedule('full', intervals.fullMs), stop.signal),
    sweepInTurn(parts, schedule('followers', intervals.unsettledMs), stop.signal),
  ]
  return async () => {
    stop.abort()
    await Promise.all([...sweeping, parts.turn?.stop()])
  }
}

async function sweepInTurn(parts: SweepParts, schedule: Schedule, signal: AbortSignal): Promise<void> {
  if (schedule.intervalMs === 0) return
  if (parts.turn === undefined) {
    const delay = schedule.sweep === 'full' ? 0 : withJitter(schedule.intervalMs)
    await sweepRepeatedly(parts, { ...schedule, delay }, signal)
    return
  }
  while (!signal.aborted) {
    const turn = await parts.turn.begun()
    if (turn === undefined) return
    // At once: nobody knows when the replica before has swept.
    await sweepRepeatedly(parts, { ...schedule, delay: 0 }, anySignal([signal, turn]))
    forgetFigures(schedule.meter, schedule.sweep)
  }
}

/** Reads each resource again, because its event needs the partition key. A deleted one gets no event. */
function sweeperOf({ cluster, sink, log }: SweepParts): Sweeper {
  async function announce(ref: Parameters<Sweeper['sink']['announce']>[0]): Promise<boolean> {
    const resource = await cluster.readResource(ref)
    return resource !== undefined && sink.send(appliedEvent(resource, randomUUID()))
  }
  const { hasRoom, isUnderway } = sink
  return { cluster, log, sink: { announce, hasRoom, isUnderway } }
}

interface Schedule {
  readonly sweep: Sweep
  readonly intervalMs: number
  readonly meter: Meter
  readonly pause: Pause['pause']
}

async function sweepRepeatedly(
  parts: SweepParts,
  { sweep, intervalMs, meter, pause, delay }: Schedule & { readonly delay: number },
  signal: AbortSignal,
): Promise<void> {
  const lists = timeLists(parts.cluster)
  const { listPage, listUnsettled } = lists
  const sweeper = sweeperOf({ ...parts, cluster: { ...parts.cluster, listPage, listUnsettled } })
  const round = roundsOf(parts, sweeper, sweep)
  let listingMs = 0
  for (let forMs = delay; ;) {
    await pause(forMs, soonestAfter(listingMs), signal)
    if (signal.aborted) return
    const startedAt = performance.now()
    const result = await round(signal)
    const tookMs = performance.now() - startedAt
    const now = sweeper.cluster.now().getTime()
    listingMs = lists.takeMs()
    logRound(sweeper, sweep, result)
    measureRound(meter, { sweep, result, tookMs, now })
    forMs = pauseAfter(result, { intervalMs, listingMs, now })
  }
}

function roundsOf({ changes, followers }: SweepParts, sweeper: Sweeper, sweep: Sweep): Round {
  if (sweep === 'full' && changes !== undefined)
    return makeFollowedRounds(sweeper, changes, () => performance.now())
  if (sweep === 'followers' && followers !== undefined) return makeFollowersRounds(sweeper, followers)
  return makeRounds(sweeper, sweep)
}

type Lists = Pick<Cluster, 'listPage' | 'listUnsettled'>

/** Measures the lists of a cluster: `takeMs` tells how many milliseconds they took since its last call. */
export function timeLists({ listPage, listUnsettled }: Lists): Lists & { readonly takeMs: () => number } {
  let spent = 0

  async function timed<T>(listing: Promise<T>): Promise<T> {
    const began = performance.now()
    try {
      return await listing
    } finally {
      spent += performance.now() - began
    }
  }

  return {
    listPage: (kind, query) => timed(listPage(kind, query)),
    listUnsettled: (kind) => timed(listUnsettled(kind)),
    takeMs() {
      const taken = spent
      spent = 0
      return taken
    },
  }
}

/** In milliseconds: the interval, the time that the lists of the round took, and the API server's time since 1970. */
export interface Timing {
  readonly intervalMs: number
  readonly listingMs: number
  readonly now: number
}

/**
 * Milliseconds until the next round: the interval, or less where a listed resource becomes due before, or where events
 * had no room.
 */
export function pauseAfter(
  { earliest, isCrowded }: Pick<RoundResult, 'earliest' | 'isCrowded'>,
  { intervalMs, listingMs, now }: Timing,
): number {
  const usual = withJitter(intervalMs)
  const soonest = soonestAfter(listingMs)
  const wanted = isCrowded ? 0 : earliest - now
  return Math.min(usual, Math.max(withJitter(soonest), wanted))
}

// What is read besides the lists is one resource for each event that has room, at whose pace the function works.
function soonestAfter(listingMs: number): number {
  return Math.max(LEAST_PAUSE_MS, REST * listingMs)
}

/** With jitter of a tenth, so that replicas do not call the API server in step. */
function withJitter(milliseconds: number): number {
  return milliseconds * (0.9 + Math.random() / 5)
}
