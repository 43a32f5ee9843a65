import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Cluster } from '../../functions/cluster/cluster.ts'
import type { Sweeper } from '../../functions/cluster/sweep/announce.ts'
import type { Sweep } from '../../functions/cluster/sweep/due.ts'
import { makeRounds } from '../../functions/cluster/sweep/round.ts'
import { appliedEvent } from '../../functions/domain/event/applied-event.ts'
import { PLURALS } from '../../functions/domain/resource/resource.ts'
import { NO_METER } from '../../functions/domain/telemetry/meter.ts'
import type { Meter } from '../../functions/domain/telemetry/meter.ts'
import type { RoundResult } from '../../functions/cluster/sweep/round.ts'
import { WEBHOOK_METRICS } from '../metrics.ts'
import type { Sink } from './sink.ts'

/** What the sweeps of the webhook use. */
export interface SweepParts {
  readonly cluster: Pick<Cluster, 'listPage' | 'now' | 'readResource'>
  readonly sink: Pick<Sink, 'send' | 'hasRoom' | 'isUnderway'>
  readonly log: Logger
}

/** Milliseconds between two sweeps of a kind; 0 disables it. */
export interface Intervals {
  readonly unsettledMs: number
  readonly fullMs: number
}

/** Least pause between two rounds, unless the interval itself is shorter: several times that come soon share a round. */
const LEAST_PAUSE_MS = 5_000
/** A round that begins before its interval leaves the API server nine times as long in peace as the last one took. */
const REST = 9

/**
 * Sweeps until the returned function is called, which waits for running sweeps. Two sweeps of the same sort never overlap.
 * The full sweep also runs at startup; the other one also runs when a resource becomes due that it has listed. Each
 * replica of the webhook sweeps: an additional event is harmless, because the claim (one status write guarded by the
 * resourceVersion) allows only one attempt.
 */
export function startSweeps(
  parts: SweepParts,
  intervals: Intervals,
  meter: Meter = NO_METER,
): () => Promise<void> {
  const sweeper = sweeperOf(parts)
  const stop = new AbortController()
  const sweeping = [
    sweepRepeatedly(sweeper, { sweep: 'unsettled', intervalMs: intervals.unsettledMs, meter }, stop.signal),
    sweepRepeatedly(sweeper, { sweep: 'full', intervalMs: intervals.fullMs, meter }, stop.signal),
  ]
  return async () => {
    stop.abort()
    await Promise.all(sweeping)
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
}

async function sweepRepeatedly(
  sweeper: Sweeper,
  { sweep, intervalMs, meter }: Schedule,
  signal: AbortSignal,
): Promise<void> {
  if (intervalMs === 0) return
  const round = makeRounds(sweeper, sweep)
  for (let wait = sweep === 'full' ? 0 : withJitter(intervalMs); ;) {
    await pause(wait, undefined, { signal, ref: false }).catch(() => undefined)
    if (signal.aborted) return
    const startedAt = performance.now()
    const result = await round(signal)
    const timing = {
      intervalMs,
      tookMs: performance.now() - startedAt,
      now: sweeper.cluster.now().getTime(),
    }
    logRound(sweeper, sweep, result)
    measureRound(meter, { sweep, result, timing })
    wait = pauseAfter(result, timing)
  }
}

interface Measured {
  readonly sweep: Sweep
  readonly result: RoundResult
  readonly timing: Timing
}

function measureRound(meter: Meter, { sweep, result, timing }: Measured): void {
  const { sent, due, dueSince, listed, failed } = result
  const { now, tookMs } = timing
  meter.record(WEBHOOK_METRICS.sweepDuration, tookMs / 1000, { sweep })
  for (const kind of ['GitCommit', 'PullRequest'] as const) {
    meter.record(WEBHOOK_METRICS.sweepEvents, sent[kind], { sweep, kind })
    meter.record(WEBHOOK_METRICS.due, due[kind], { sweep, kind })
    meter.record(WEBHOOK_METRICS.sweepFailures, failed.filter((one) => one === kind).length, { sweep, kind })
  }
  if (failed.length === 0) meter.record(WEBHOOK_METRICS.sweepFinished, now / 1000, { sweep })
  if (sweep === 'full') return
  meter.record(WEBHOOK_METRICS.overdue, Math.max(0, now - dueSince) / 1000, {})
  for (const { scope, rows } of listed)
    meter.record(WEBHOOK_METRICS.unsettled, rows, { kind: scope.kind, phase: scope.phase ?? 'any' })
}

function logRound({ log }: Sweeper, sweep: Sweep, { sent }: RoundResult): void {
  for (const kind of ['GitCommit', 'PullRequest'] as const) {
    const level = sent[kind] > 0 ? 'info' : 'debug'
    log[level]({ sweep, resources: PLURALS[kind], events: sent[kind] }, 'swept')
  }
}

/** In milliseconds: the interval, the time that the round took, and the API server's time since 1970. */
export interface Timing {
  readonly intervalMs: number
  readonly tookMs: number
  readonly now: number
}

/**
 * Milliseconds until the next round: the interval, or less where a listed resource becomes due before, or where events
 * had no room.
 */
export function pauseAfter(
  { earliest, isCrowded }: Pick<RoundResult, 'earliest' | 'isCrowded'>,
  { intervalMs, tookMs, now }: Timing,
): number {
  const usual = withJitter(intervalMs)
  const soonest = Math.max(LEAST_PAUSE_MS, REST * tookMs)
  const wanted = isCrowded ? 0 : earliest - now
  return Math.min(usual, Math.max(withJitter(soonest), wanted))
}

/** With jitter of a tenth, so that replicas do not call the API server in step. */
function withJitter(milliseconds: number): number {
  return milliseconds * (0.9 + Math.random() / 5)
}
