import { Failure } from '../failure.ts'
import type { Release } from '../network/budget.ts'
import { openFairQueue, type FairQueue, type Leave, type QueueTerms } from './fair-queue.ts'
import type { TakenTime } from './taken-time.ts'
import type { Rank } from './waiting-line.ts'

/** Who takes a turn, and of what. */
export interface TurnTaker {
  readonly key: string
  readonly owner: string
  readonly signal: AbortSignal
  /** What is thrown if the signal fires while it waits, unless the signal's reason is a Failure: then that is. */
  readonly late: (reason: unknown) => Failure
}

/** A turn that is held. */
export interface HeldTurn {
  /** Lets others go before who wait and have taken less time. Whether it had to wait for its next turn. */
  readonly pass: () => Promise<boolean>
  /** Does work in which the turn is not passed on, because others wait for the end of this work, too. */
  readonly keep: <T>(work: () => Promise<T>) => Promise<T>
  /** Gives the turn up, for a wait for something else. */
  readonly leave: () => void
  /**
   * Takes a turn again, before all who wait: by then others wait for what this one holds. One of those who come so has a turn at a
   * time, until it passes it; another one comes in the order of all.
   */
  readonly comeBack: () => Promise<void>
  /** Does work that waits for something else without the turn, and takes it again after it. */
  readonly without: <T>(work: () => Promise<T>) => Promise<T>
  /** Whether it is kept. */
  readonly isKept: () => boolean
}

/** Runs `work` when it is its turn. Throws what `work` throws, and what is thrown if the signal fires while it waits. */
export type KeyedTurns = <T>(taker: TurnTaker, work: (turn: HeldTurn) => Promise<T>) => Promise<T>

/** How turns are lent to owners who have none, one to each, so that nobody waits for what takes long. */
export interface Lending {
  /** Milliseconds for which a turn is held, without a chance to pass it on, before another one may begin besides. */
  readonly afterMs: number
  /** Turns at once, with those. */
  readonly most: number
  readonly wait: (milliseconds: number) => Promise<unknown>
}

/** What turns may be opened with, besides what a queue may. */
interface KeyedTerms extends Pick<QueueTerms, 'spare' | 'handOver' | 'taken'> {
  /** Whether turns that take long are lent. Default: none is. */
  readonly lending?: Lending
  /** Begins to count what owners have taken of a key that was idle. Left out: `taken` counts that of all keys together. */
  readonly openTaken?: () => TakenTime
}

/**
 * Runs so many works of each key at once, in the turns of a fair queue. Idle keys use no memory. `elapsed`: milliseconds of a
 * clock that is never set.
 */
export function openKeyedTurns(
  places: number,
  elapsed: () => number,
  { openTaken, lending, ...terms }: KeyedTerms = {},
): KeyedTurns {
  const most = lending && { most: lending.most }
  const openQueue = (): FairQueue =>
    openFairQueue(places, { elapsed, ...terms, ...most, ...(openTaken && { taken: openTaken() }) })
  const queues = new Map<string, { readonly queue: FairQueue; users: number }>()

  return async function inTurn({ key, owner, signal, late }, work) {
    const used = queues.get(key) ?? { queue: openQueue(), users: 0 }
    const { queue } = used
    queues.set(key, used)
    used.users += 1
    let release: Release = () => undefined
    let isOver = false
    let since = 0
    const lendOnceLong = async (held: Leave, { afterMs, wait }: Lending): Promise<void> => {
      for (let left = afterMs; left > 0 && release === held; left = since + afterMs - elapsed())
        await wait(left)
      held.lend()
    }
    const enter = async (rank: Rank): Promise<void> => {
      const entered = await queue.enter(owner, signal, rank).catch((reason: unknown) => {
        throw reason instanceof Failure ? reason : late(reason)
      })
      // What it waited for without the turn may end when nobody waits for that any more.
      if (isOver) {
        entered()
        return
      }
      release = entered
      since = elapsed()
      if (lending !== undefined) void lendOnceLong(entered, lending)
    }
    let isKept = false
    let isFirst = false
    const turn: HeldTurn = {
      async pass() {
        // What the others have waited for is over.
        if (isKept) return false
        since = elapsed()
        if (!isFirst && queue.mayGoOn(owner)) return false
        isFirst = false
        const giveBack = release
        const entered = enter('first of its owner')
        giveBack()
        await entered
        return true
      },
      async keep(work) {
        isKept = true
        return work().finally(() => (isKept = false))
      },
      leave: () => release(),
      async comeBack() {
        isFirst = true
        await enter('first')
      },
      async without(work) {
        release()
        const result = await work()
        await enter('first of its owner')
        return result
      },
      isKept: () => isKept,
    }
    try {
      await enter('last')
      return await work(turn)
    } finally {
      isOver = true
      release()
      used.users -= 1
      if (used.users === 0) queues.delete(key)
    }
  }
}
