import type { Timing } from '../domain/incoming/timing.ts'
import { openFairCache } from '../domain/sharing/fair-cache.ts'
import { makeRounds } from '../domain/sharing/rounds.ts'
import type { ObjectRef } from '../domain/resource/resource.ts'
import { openWishes } from './wishes.ts'

/** Begins to handle a resource. False if there is no place for it. */
export type Begin = (ref: ObjectRef) => boolean

/** What may wait for a place. Where one has none, the others of its namespace are not tried before the next round. */
export interface OfNamespace {
  readonly namespace?: string
}

/** For how many milliseconds to wait; and who waits, such as an address: owners take turns. */
export interface Patience {
  readonly forMs: number
  readonly owner: string
}

/** Begins all of them as places become free, whichever get one. Resolves with how many have none when the time is over. */
export type BeginAll = <T extends OfNamespace>(
  all: readonly T[],
  begin: (one: T) => boolean,
  patience: Patience,
) => Promise<number>

/** The clock; `ending` fires when nobody is to wait any more. */
export interface LineClock extends Pick<Timing, 'elapsed' | 'wait'> {
  readonly ending?: AbortSignal
}

/** While anybody waits, there is a round this often. */
const PAUSE_MS = 100
/** What is tried in vain in a round, of all who wait; each costs about a microsecond. The next round begins with other owners. */
const MOST_IN_VAIN = 250
/** Most owners of whom is remembered when they were tried and had a place; beyond that, one is forgotten. */
const MOST_OWNERS = 4_096
const NEVER = new AbortController().signal

/** One who waits. */
interface Waiting {
  readonly owner: string
  readonly until: number
  /** Ends its wait. */
  readonly end: () => void
  readonly left: () => number
  readonly tryNext: () => boolean
  /** Whether every namespace of it was tried in vain in this round. */
  readonly isTried: () => boolean
  readonly beginRound: () => void
}

/** When an owner had its last place, and was last tried, by the number of the try. */
interface Turns {
  readonly placedAt: number
  readonly triedAt: number
}

const NO_TURNS: Turns = { placedAt: 0, triedAt: 0 }

/**
 * Opens a line in which nobody waits. However many wait, and for however much, a round costs the same. Who comes is tried once at
 * once.
 */
export function openBeginLine({ elapsed, wait, ending = NEVER }: LineClock): BeginAll {
  const waiting = new Set<Waiting>()
  const turns = openFairCache<Turns>(MOST_OWNERS)
  let count = 0

  /** Those whose owners have waited longest for a place come first, and of these those who were tried longest ago. */
  function inOrder(): readonly Waiting[] {
    // Very many may wait, of few owners.
    const owners = [...Map.groupBy(waiting, ({ owner }) => owner)].map(([owner, theirs]) => ({
      theirs,
      ...(turns.get(owner, owner) ?? NO_TURNS),
    }))
    owners.sort((a, b) => a.placedAt - b.placedAt || a.triedAt - b.triedAt)
    return owners.flatMap(({ theirs }) => theirs)
  }

  function goRound(): void {
    const rounds = makeRounds<Waiting>()
    for (const one of inOrder()) rounds.add(one.owner, one)
    for (let inVain = 0; inVain < MOST_IN_VAIN;) {
      const next = rounds.next()
      if (next === undefined) break
      const hasBegun = next.tryNext()
      count += 1
      const { placedAt } = turns.get(next.owner, next.owner) ?? NO_TURNS
      turns.set(next.owner, next.owner, { placedAt: hasBegun ? count : placedAt, triedAt: count })
      if (!hasBegun) inVain += 1
      if (next.left() === 0) leave(next)
      else if (next.isTried()) next.beginRound()
      else rounds.add(next.owner, next)
    }
  }

  function leave(one: Waiting): void {
    waiting.delete(one)
    one.end()
  }

  async function goOn(): Promise<void> {
    while (waiting.size > 0) {
      await wait(PAUSE_MS, NEVER)
      goRound()
      for (const one of waiting) {
        if (elapsed() < one.until && !ending.aborted) continue
        leave(one)
      }
    }
  }

  return async function beginAll(all, begin, { forMs, owner }) {
    const wishes = openWishes(all, begin)
    for (let inVain = 0; inVain < MOST_IN_VAIN && !wishes.isTried();) if (!wishes.tryNext()) inVain += 1
    if (wishes.left() === 0 || forMs <= 0 || ending.aborted) return wishes.left()
    const { promise, resolve } = Promise.withResolvers<undefined>()
    const one = { ...wishes, owner, until: elapsed() + forMs, end: () => resolve(undefined) }
    wishes.beginRound()
    waiting.add(one)
    if (waiting.size === 1) void goOn()
    await promise
    return wishes.left()
  }
}
