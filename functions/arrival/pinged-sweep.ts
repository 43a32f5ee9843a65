import type { Logger } from 'pino'
import type { Cluster } from '../cluster/cluster.ts'
import type { Tally } from '../cluster/sweep/announce.ts'
import type { Sweep } from '../cluster/sweep/due.ts'
import { makeRounds } from '../cluster/sweep/round.ts'
import type { Timing } from '../domain/incoming/timing.ts'
import type { ObjectRef } from '../domain/resource/resource.ts'
import type { Searches } from './arrivals.ts'
import { openBeginLine } from './begin-line.ts'

/** What sweeps and searches of the function use. `elapsed`: milliseconds of a clock that is never set. */
export interface SearchParts {
  readonly cluster: Pick<Cluster, 'listPage' | 'listUnsettled' | 'now'>
  readonly log: Logger
  readonly elapsed: () => number
  readonly wait: Timing['wait']
  /** Fires when the pod is about to end: what waits for its pace waits no more. Default: never. */
  readonly ending?: AbortSignal
}

/** Least milliseconds from one sweep to the next of its sort; 0 disables it. */
export type SweepIntervals = Readonly<Record<Sweep, number>>

/** Resources that wait for a place, as many as in the sink of the webhook. */
const MOST_WAITING = 10_000
const MOST_OF_NAMESPACE = 1_000
/**
 * What has found no place by then, or after half of the shortest interval, is left to the next sweep, so that one tenant's
 * backlog does not hold up that.
 */
const PATIENCE_MS = 30_000
const SWEEPS = ['unsettled', 'full', 'followers'] as const

/**
 * Sweeps when it is asked to: for what is due, for what has changed without an event, and for followers whose interval is over, each
 * once in its interval, whoever asks. Who asks while it sweeps waits for the same sweep.
 */
export function makePingedSweep(parts: SearchParts, intervals: SweepIntervals): Searches['sweep'] {
  const { cluster, log, elapsed, wait } = parts
  const began: Record<Sweep, number> = { unsettled: -Infinity, full: -Infinity, followers: -Infinity }
  const waiting = new Map<string, ObjectRef[]>()
  const beginAll = openBeginLine({ elapsed, wait })
  const sink = { announce, hasRoom, isUnderway: () => false }
  const rounds = {
    unsettled: makeRounds({ cluster, log, sink }, 'unsettled'),
    full: makeRounds({ cluster, log, sink }, 'full'),
    followers: makeRounds({ cluster, log, sink }, 'followers'),
  }
  const often = Math.min(...SWEEPS.map((one) => intervals[one] || Infinity))
  const forMs = Math.min(PATIENCE_MS, often / 2)
  let size = 0
  let running: Promise<void> | undefined

  function hasRoom(namespace: string): boolean {
    return size < MOST_WAITING && (waiting.get(namespace)?.length ?? 0) < MOST_OF_NAMESPACE
  }

  function announce(ref: ObjectRef): Promise<boolean> {
    const isKept = hasRoom(ref.namespace)
    if (isKept) keep(ref)
    return Promise.resolve(isKept)
  }

  function keep(ref: ObjectRef): void {
    const ofNamespace = waiting.get(ref.namespace) ?? []
    ofNamespace.push(ref)
    waiting.set(ref.namespace, ofNamespace)
    size += 1
  }

  async function sweep(...[begin]: Parameters<Searches['sweep']>): Promise<void> {
    const { signal } = new AbortController()
    const begun: Promise<unknown>[] = []
    for (const one of SWEEPS) {
      if (intervals[one] === 0 || elapsed() - began[one] < intervals[one]) continue
      began[one] = elapsed()
      logRound(log, one, await rounds[one](signal))
      const refs = [...waiting.values()].flat()
      waiting.clear()
      size = 0
      // The next list does not wait for places.
      begun.push(beginAll(refs, begin, { forMs, owner: one }))
    }
    await Promise.all(begun)
  }

  return function sweepOnce(begin) {
    running ??= sweep(begin).finally(() => (running = undefined))
    return running
  }
}

function logRound(log: Logger, sweep: Sweep, { sent }: Tally): void {
  log[sent.GitCommit + sent.PullRequest > 0 ? 'info' : 'debug']({ sweep, resources: sent }, 'swept')
}
