import { LRUCache } from 'lru-cache'
import { unlessAborted } from '../../domain/deadline.ts'
import { asFailure } from '../../domain/failure.ts'
import { makeAllowances } from '../../domain/sharing/allowances.ts'
import { openFairQueue } from '../../domain/sharing/fair-queue.ts'
import { countUnderWay } from '../../domain/sharing/under-way.ts'
import { REST_CLOCK, restAfter, type RestClock } from './rest.ts'
import { CALL_MS, watchUsualTime, type CallForAnybody } from './usual-time.ts'

/** Calls at once of all owners whose calls are slow: with its rest, half of a core of the server. */
export const SLOW_AT_ONCE = 1
/** Milliseconds beyond what is usual that an owner may take at once: while the server is busy, the calls of all take longer. */
const MOST_MS = 1_000
/** Milliseconds of these that come back in a second. */
const MS_PER_SECOND = 20
/** The most that an owner owes: after a server has stood still, nobody is slow for more than some minutes. */
const MOST_OWED_MS = 3_000
/** So long after a quick call of an owner, others are made at once. */
const QUICK_MS = 10_000
/** Calls at once of an owner whose calls were not quick lately: an attempt at a small commit makes as many. */
export const FIRST_AT_ONCE = 2
/** Where more owners than this were slow lately, the server is slow for everybody, though some calls are quick by luck. */
export const MOST_SLOW = 24
/** Owners whose last slow call was in this time. */
const SLOW_MS = 60_000
/** Owners whose calls are known to be quick. */
const MOST_REMEMBERED = 10_000

/** The turns that calls take besides. */
export type InTurn = <T>(call: () => Promise<T>) => Promise<T>

/**
 * Makes a call in a turn that `inTurn` gives: at once, or of an owner whose calls are slow in the share of those before it. Throws
 * what these throw, and the signal's reason if it fires while the owner waits for the share.
 */
export type SlowCalls = <T>(owner: string, calls: SharedCall<T>) => Promise<T>

/** `forAnybody`: the same without what makes it slow for this owner, and not remembered; default: that is not known. */
export interface SharedCall<T> {
  readonly inTurn: InTurn
  readonly call: () => Promise<T>
  readonly forAnybody?: CallForAnybody
  readonly signal?: AbortSignal
}

/**
 * Shares the calls that take the server long among their owners: one at a time of all who have taken more than a little, in turns, and
 * after each a rest. They wait for that outside of the turns that all others take, too. Of an owner whose calls were not quick
 * lately, two are made first, so that not many are under way before it is known that they are slow. Where the server needs as long
 * for everybody, or long for very many, nobody is slow: whoever seems to be has that measured.
 */
export function shareSlowCalls(clock: RestClock = REST_CLOCK): SlowCalls {
  const { elapsed } = clock
  // Of those alone who have been slow.
  const shares = makeAllowances(MOST_MS, MS_PER_SECOND, elapsed)
  const queue = openFairQueue(SLOW_AT_ONCE, { elapsed })
  const perf = { now: elapsed }
  const quick = new LRUCache<string, true>({ max: MOST_REMEMBERED, ttl: QUICK_MS, ttlResolution: 0, perf })
  // With what their last slow call took.
  const slow = new LRUCache<string, number>({ max: MOST_SLOW + 1, ttl: SLOW_MS, ttlResolution: 0, perf })
  const first = countUnderWay()
  const usual = watchUsualTime(clock)

  function isSlow(owner: string): boolean {
    if ((shares.known(owner)?.left() ?? MOST_MS) > 0) return false
    slow.purgeStale()
    return slow.size <= MOST_SLOW
  }

  function spend(owner: string, took: number, forAnybody: CallForAnybody | undefined): void {
    const share = shares.of(owner)
    share.spend(Math.min(took - usual.most(), MOST_OWED_MS + share.left()))
    if (share.left() > 0) return
    slow.set(owner, took)
    if (forAnybody !== undefined) void usual.measure(forAnybody, () => slow.size > 0).then(forgive)
  }

  /** Whoever has taken no longer than the server needs for anybody is not slow. */
  function forgive(isMeasured: boolean): void {
    for (const [owner, took] of isMeasured ? [...slow.entries()] : []) {
      if (took > usual.most()) continue
      slow.delete(owner)
      shares.of(owner).spend(-MOST_MS - MOST_OWED_MS)
    }
  }

  function timed<T>(owner: string, { call, forAnybody }: SharedCall<T>): Promise<T> {
    return usual.time(call, (took) => {
      if (took > usual.most()) spend(owner, took, forAnybody)
      else if (took >= CALL_MS) quick.set(owner, true)
    })
  }

  /** A call while nothing is known of the owner, for which its others wait. */
  async function makeFirst<T>(owner: string, shared: SharedCall<T>): Promise<T> {
    const end = first.begin(owner)
    try {
      return await shared.inTurn(() => timed(owner, shared))
    } finally {
      end()
    }
  }

  return async function run(owner, shared) {
    const { inTurn, signal = NEVER } = shared
    while (!isSlow(owner)) {
      if (quick.has(owner)) {
        // While it waited for its turn, others of its calls may have been slow.
        const done = await inTurn(async () =>
          isSlow(owner) ? undefined : { result: await timed(owner, shared) },
        )
        if (done !== undefined) return done.result
      } else {
        if (first.count(owner) < FIRST_AT_ONCE) return makeFirst(owner, shared)
        await unlessAborted(first.nextEnd(owner), signal, asFailure)
      }
    }
    const leave = await queue.enter(owner, signal)
    const began = elapsed()
    try {
      return await inTurn(() => timed(owner, shared))
    } finally {
      void restAfter(began, clock).then(() => leave())
    }
  }
}

const NEVER = new AbortController().signal
