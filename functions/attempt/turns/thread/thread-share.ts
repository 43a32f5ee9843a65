import { makeAllowances, type Allowances } from '../../../domain/sharing/allowances.ts'
import { unlessAborted } from '../../../domain/deadline.ts'
import { Failure } from '../../../domain/failure.ts'
import type { Release } from '../../../domain/network/budget.ts'
import type { ThreadShares, WorkFor } from '../../../domain/network/share.ts'
import { openFairQueue } from '../../../domain/sharing/fair-queue.ts'
import { countExcess, SHORT } from '../../../domain/sharing/taken-time.ts'
import { LONG_MS, makeTogether, moreOf } from './long-works.ts'
import { openReserved } from './reserved.ts'
import { REAL, type ThreadClock } from './thread-clock.ts'
import { openTurnOfLoop, TURN_MS } from './turn-of-loop.ts'

/** Milliseconds of the thread that a namespace may take at once: four of the slowest objects that the API server stores. */
const MOST_MS = 400
/** Milliseconds that it gets back in a second. What else an attempt does with a large object takes as much again. */
const MS_PER_SECOND = 200
/** Milliseconds that a namespace may take without a turn among others: those of some 20 commits of small objects. */
const LITTLE_MS = 50
/** Milliseconds of these that it gets back in a second. */
const LITTLE_PER_SECOND = 10
/** The same of calls: of three pull requests with fifty reviewers each, who are asked for one by one. */
const CALLS_MS = 100
const CALLS_PER_SECOND = 10
/**
 * Milliseconds of the little that count as taken while a namespace does what others wait for: it does two of these at a time, as many
 * as call with one token.
 */
const RESERVED_MS = LITTLE_MS / 2

/**
 * Shares the thread that answers probes, and does everybody's work, among namespaces: work waits while its namespace has
 * taken more than its share, and for the next turn of the event loop where this one has been long. Without this, one
 * namespace with objects of 1 MiB held the thread all the time. Works of namespaces that have taken more than a little are done
 * one at a time, next that of whichever has taken the least, and those that are long have a part of the thread together: ten
 * namespaces of one tenant, each with its share, would hold it all the time. What is urgent waits for none of this, and is taken from
 * all of it: whoever has urgent work reserves its part before others wait for it. What servers have us do counts like what is long:
 * each of their answers may be short, and there is always the next one. `long`: of several of these; default: one of its own.
 */
export function shareThread(
  long = makeTogether(),
  { elapsed, nextTurn, pause }: ThreadClock = REAL,
): ThreadShares {
  const shares = makeAllowances(MOST_MS, MS_PER_SECOND, elapsed)
  const works: Sort = { little: makeAllowances(LITTLE_MS, LITTLE_PER_SECOND, elapsed), areLong: false }
  const calls: Sort = { little: makeAllowances(CALLS_MS, CALLS_PER_SECOND, elapsed), areLong: true }
  let worked = 0
  const taken = countExcess(SHORT, elapsed)
  const queue = openFairQueue(1, { elapsed: () => worked, handOver, taken })
  const reserved = openReserved()
  const turnOfLoop = openTurnOfLoop(nextTurn)

  function handOver(giveNext: () => void): void {
    if (long.left() > 0) giveNext()
    else void moreOf(long, pause).then(giveNext)
  }

  /** Waits until its share is not used up. */
  async function ownShare(namespace: string, signal: AbortSignal): Promise<void> {
    const share = shares.of(namespace)
    for (let left = share.left(); left <= 0; left = share.left())
      await unlessAborted(pause((1 - left) * (1_000 / MS_PER_SECOND)), signal, late)
  }

  function timed<T>(namespace: string, work: () => T, count: (took: number) => void): T {
    const began = elapsed()
    try {
      return work()
    } finally {
      const took = elapsed() - began
      turnOfLoop.add(took)
      shares.of(namespace).spend(took)
      count(took)
    }
  }

  function count(namespace: string, took: number): void {
    turnOfLoop.add(took)
    shares.of(namespace).spend(took)
    const ofIts = calls.little.of(namespace)
    if (ofIts.left() > 0) ofIts.spend(took)
    else {
      taken.add(namespace, took)
      long.spend(took)
    }
  }

  async function enter(namespace: string, signal: AbortSignal): Promise<Release> {
    const leave = await queue.enter(namespace, signal).catch((reason: unknown) => {
      throw reason instanceof Failure ? reason : late(reason)
    })
    try {
      // What was urgent has taken it while nobody was here.
      while (long.left() <= 0) await unlessAborted(moreOf(long, pause), signal, late)
      return leave
    } catch (error) {
      leave()
      throw error
    }
  }

  async function urgently<T>(namespace: string, work: () => T, { little, areLong }: Sort): Promise<T> {
    while (turnOfLoop.isFull()) await turnOfLoop.next()
    const ofIts = little.of(namespace)
    const hadLittle = ofIts.left() > 0
    return timed(namespace, work, (took) => {
      ofIts.spend(took)
      taken.add(namespace, took)
      if (took > TURN_MS || (areLong && !hadLittle)) long.spend(took)
    })
  }

  async function inShare<T>(
    namespace: string,
    work: () => T,
    { little, areLong, signal }: Sort & { readonly signal: AbortSignal },
  ): Promise<T> {
    function countInTurn(took: number): void {
      worked += took
      if (areLong || took > TURN_MS) long.spend(took)
    }
    for (;;) {
      await ownShare(namespace, signal)
      const ofIts = little.of(namespace)
      if (ofIts.left() > 0) {
        if (!turnOfLoop.isFull()) return timed(namespace, work, ofIts.spend)
        await turnOfLoop.next()
        continue
      }
      const leave = await enter(namespace, signal)
      try {
        while (turnOfLoop.isFull()) await turnOfLoop.next()
        // Others of its works may have taken it meanwhile.
        if (shares.of(namespace).left() > 0) return timed(namespace, work, countInTurn)
      } finally {
        leave()
      }
    }
  }

  /** Undefined: it has to wait. */
  function reserveLittle(namespace: string): Release | undefined {
    const ofIts = works.little.of(namespace)
    if (shares.of(namespace).left() <= 0 || ofIts.left() <= 0) return undefined
    return reserved.begin(namespace, ofIts, RESERVED_MS)
  }

  async function reserveLater(namespace: string, signal: AbortSignal): Promise<Release> {
    for (;;) {
      await ownShare(namespace, signal)
      const little = reserveLittle(namespace)
      if (little !== undefined) return little
      const oneEnds = reserved.oneEnds(namespace)
      if (oneEnds !== undefined) {
        await unlessAborted(oneEnds, signal, late)
        continue
      }
      const leave = await enter(namespace, signal)
      try {
        if (reserved.oneEnds(namespace) !== undefined || shares.of(namespace).left() <= 0) continue
        taken.add(namespace, LONG_MS)
        return reserved.begin(namespace, long, LONG_MS)
      } finally {
        leave()
      }
    }
  }

  function sharing(sort: Sort): WorkFor {
    return async (namespace, work, signal, isUrgent = false) =>
      isUrgent ? urgently(namespace, work, sort) : inShare(namespace, work, { ...sort, signal })
  }

  return {
    isSpent: (namespace) => shares.of(namespace).left() <= 0,
    mustWait(namespace) {
      if (shares.of(namespace).left() <= 0) return true
      return calls.little.of(namespace).left() <= 0 && (long.left() <= 0 || !queue.hasRoom())
    },
    count,
    workFor: sharing(works),
    callFor: sharing(calls),
    reserve: (namespace, signal) => reserveLittle(namespace) ?? reserveLater(namespace, signal),
  }
}

/** Works, or calls. */
interface Sort {
  /** What each namespace has without a turn among others. */
  readonly little: Allowances
  /** Whether they count as long ones, however short they are. */
  readonly areLong: boolean
}

function late(cause: unknown): Failure {
  const message =
    'The attempt ran out of time while others of its namespace were prepared; Commitlet retries automatically.'
  return new Failure('Timeout', message, { cause })
}
