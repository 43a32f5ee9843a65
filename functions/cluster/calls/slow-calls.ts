import { LRUCache } from 'lru-cache'
import { unlessAborted } from '../../domain/deadline.ts'
import { asFailure } from '../../domain/failure.ts'
import { makeAllowances } from '../../domain/sharing/allowances.ts'
import { openFairQueue } from '../../domain/sharing/fair-queue.ts'
import { REST_CLOCK, restAfter, type RestClock } from './rest.ts'

/** Calls at once of all owners whose calls are slow: with its rest, half of a core of the server. */
export const SLOW_AT_ONCE = 1
/** Milliseconds of each call that are not counted. */
const USUAL_MS = 50
/** Where even the quickest calls take long, so many times as long is usual. */
const USUAL_TIMES = 4
/** Milliseconds beyond that which an owner may take at once: while the server is busy, the calls of all take longer. */
const MOST_MS = 1_000
/** Milliseconds of these that come back in a second. */
const MS_PER_SECOND = 20
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
/** What is quicker was remembered, and is no call. */
const CALL_MS = 1
/** By which part of the difference a slower call raises what counts as the quickest. */
const RAISE = 0.01

/** The turns that calls take besides. */
export type InTurn = <T>(call: () => Promise<T>) => Promise<T>

/**
 * Makes a call in a turn that `inTurn` gives: at once, or of an owner whose calls are slow in the share of those before it. Throws
 * what these throw, and the signal's reason if it fires while the owner waits for the share.
 */
export type SlowCalls = <T>(
  owner: string,
  calls: { readonly inTurn: InTurn; readonly call: () => Promise<T>; readonly signal?: AbortSignal },
) => Promise<T>

/**
 * Shares the calls that take the server long among their owners: one at a time of all who have taken more than a little, in turns, and
 * after each a rest. They wait for that outside of the turns that all others take, too. Of an owner whose calls were not quick
 * lately, two are made first, so that not many are under way before it is known that they are slow. Where the server needs as long
 * for everybody, or long for very many, nobody is slow.
 */
export function shareSlowCalls(clock: RestClock = REST_CLOCK): SlowCalls {
  const { elapsed } = clock
  // Of those alone who have been slow.
  const shares = makeAllowances(MOST_MS, MS_PER_SECOND, elapsed)
  const queue = openFairQueue(SLOW_AT_ONCE, { elapsed })
  const perf = { now: elapsed }
  const quick = new LRUCache<string, true>({ max: MOST_REMEMBERED, ttl: QUICK_MS, ttlResolution: 0, perf })
  const slow = new LRUCache<string, true>({ max: MOST_SLOW + 1, ttl: SLOW_MS, ttlResolution: 0, perf })
  const first = new Map<string, ReadonlySet<Promise<unknown>>>()
  let quickest = Infinity

  function isSlow(owner: string): boolean {
    if ((shares.known(owner)?.left() ?? MOST_MS) > 0) return false
    slow.purgeStale()
    return slow.size <= MOST_SLOW
  }

  function spend(owner: string, long: number): void {
    const share = shares.of(owner)
    share.spend(long)
    if (share.left() <= 0) slow.set(owner, true)
  }

  async function timed<T>(owner: string, call: () => Promise<T>): Promise<T> {
    const began = elapsed()
    try {
      return await call()
    } finally {
      const took = elapsed() - began
      if (took >= CALL_MS) quickest = took < quickest ? took : quickest + (took - quickest) * RAISE
      const long = took - Math.max(USUAL_MS, quickest * USUAL_TIMES)
      if (long > 0) spend(owner, long)
      else if (took >= CALL_MS) quick.set(owner, true)
    }
  }

  function firstOf(owner: string): ReadonlySet<Promise<unknown>> {
    return first.get(owner) ?? NONE
  }

  /** A call while nothing is known of the owner, for which its others wait. */
  async function makeFirst<T>(owner: string, inTurn: InTurn, call: () => Promise<T>): Promise<T> {
    const { promise, resolve } = Promise.withResolvers<undefined>()
    first.set(owner, new Set([...firstOf(owner), promise]))
    try {
      return await inTurn(() => timed(owner, call))
    } finally {
      const others = new Set([...firstOf(owner)].filter((other) => other !== promise))
      if (others.size === 0) first.delete(owner)
      else first.set(owner, others)
      resolve(undefined)
    }
  }

  return async function run(owner, { inTurn, call, signal = NEVER }) {
    while (!isSlow(owner)) {
      if (quick.has(owner)) {
        // While it waited for its turn, others of its calls may have been slow.
        const done = await inTurn(async () =>
          isSlow(owner) ? undefined : { result: await timed(owner, call) },
        )
        if (done !== undefined) return done.result
      } else {
        const others = firstOf(owner)
        if (others.size < FIRST_AT_ONCE) return makeFirst(owner, inTurn, call)
        await unlessAborted(Promise.race(others), signal, asFailure)
      }
    }
    const leave = await queue.enter(owner, signal)
    const began = elapsed()
    try {
      return await inTurn(() => timed(owner, call))
    } finally {
      void restAfter(began, clock).then(leave)
    }
  }
}

const NEVER = new AbortController().signal
const NONE: ReadonlySet<Promise<unknown>> = new Set()
