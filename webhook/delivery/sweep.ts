import { setTimeout as pause } from 'node:timers/promises'
import { PLURALS } from '../../functions/domain/resource/resource.ts'
import type { Sweeper, Tally } from './announce.ts'
import type { Sweep } from './due.ts'
import { makeRounds } from './round.ts'

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
export function startSweeps(sweeper: Sweeper, intervals: Intervals): () => Promise<void> {
  const stop = new AbortController()
  const sweeping = [
    sweepRepeatedly(sweeper, { sweep: 'unsettled', intervalMs: intervals.unsettledMs }, stop.signal),
    sweepRepeatedly(sweeper, { sweep: 'full', intervalMs: intervals.fullMs }, stop.signal),
  ]
  return async () => {
    stop.abort()
    await Promise.all(sweeping)
  }
}

interface Schedule {
  readonly sweep: Sweep
  readonly intervalMs: number
}

async function sweepRepeatedly(
  sweeper: Sweeper,
  { sweep, intervalMs }: Schedule,
  signal: AbortSignal,
): Promise<void> {
  if (intervalMs === 0) return
  const round = makeRounds(sweeper, sweep)
  for (let wait = sweep === 'full' ? 0 : withJitter(intervalMs); ;) {
    await pause(wait, undefined, { signal, ref: false }).catch(() => undefined)
    if (signal.aborted) return
    const startedAt = performance.now()
    const tally = await round(signal)
    logRound(sweeper, sweep, tally)
    wait = pauseAfter(tally, {
      intervalMs,
      tookMs: performance.now() - startedAt,
      now: sweeper.cluster.now().getTime(),
    })
  }
}

function logRound({ log }: Sweeper, sweep: Sweep, { sent }: Tally): void {
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
  { earliest, isCrowded }: Pick<Tally, 'earliest' | 'isCrowded'>,
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
