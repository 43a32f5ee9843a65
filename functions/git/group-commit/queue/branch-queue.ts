import type { Landed } from '../../../domain/commit/change.ts'
import type { Login } from '../../../domain/credentials/login.ts'
import type { Failure } from '../../../domain/failure.ts'
import type { Release } from '../../../domain/network/budget.ts'
import type { Expected } from './expected-changes.ts'
import { BATCH_LENGTH, inTurns, lengthOfNext, likelyMsOf } from './push-size.ts'
import type { PendingChange } from '../../writer/pending-change.ts'

/** A change that waits for the next push of its branch. */
export interface Waiter {
  /** Another one of the same change once it has left a push. */
  pending: PendingChange
  /** It has left a push that took long, which may still land. */
  hasLeft?: true
  readonly login: Login
  /** Returns the result to the caller; later calls do nothing. */
  readonly settle: (ending: Landed | Failure) => void
}

/** The changes of one repository, branch and login that wait for their push. */
export interface BranchQueue {
  readonly add: (waiter: Waiter) => void
  /** Its caller has gone. */
  readonly remove: (waiter: Waiter) => void
  readonly isEmpty: () => boolean
  /** Whether its push reads few files that changes of this namespace edit, with those of the one that is to be added. */
  readonly hasRoomFor: (waiter: Waiter) => boolean
  /** How long the next push is likely to take, by its size, on a fast server and a machine that is idle. */
  readonly likelyMs: () => number
  /** Of the changes that wait, each once. */
  readonly namespaces: () => ReadonlySet<string>
  /** Calls `added` whenever a change has come, until the result is called. */
  readonly follow: (added: () => void) => Release
  /** The first change that waits; undefined if none does. */
  readonly first: () => Waiter | undefined
  /**
   * Waits while changes of each namespace in the queue are on their way, for half a second at most after the first of
   * those that wait has come, and `pauseMs` for any.
   */
  readonly gather: (expected: Expected, pauseMs: number) => Promise<void>
  /** Fires once nobody waits any more. */
  readonly abandoned: () => AbortSignal
  /** Removes and returns what one push takes, of the namespaces in turns. */
  readonly takeNext: () => readonly Waiter[]
  /** Removes and returns those that are meant. */
  readonly take: (isMeant: (waiter: Waiter) => boolean) => readonly Waiter[]
  /** Removes and returns what a push that holds these takes besides, up to the first that `mayJoin` refuses. */
  readonly takeMore: (
    batch: readonly PendingChange[],
    mayJoin: (waiter: Waiter) => boolean,
  ) => readonly Waiter[]
}

/** Most files that a namespace edits in a push with others: of the largest, one fetch brings so many. */
export const MOST_EDITED = 8

/**
 * Each push costs its server and ours the same, whatever it holds. Whoever is alone does not wait, and where pushes take
 * longer than this nobody does.
 */
export const LONGEST_GATHERING_MS = 500

/** Makes a queue of one. */
export function makeBranchQueue(only: Waiter): BranchQueue {
  let waiters = [only]
  let came = performance.now()
  let leaving = new AbortController()
  let look = noop
  let added = noop

  function namespaces(): ReadonlySet<string> {
    return new Set(waiters.map(({ pending }) => pending.change.namespace))
  }

  function hasNoneOnTheWay({ count }: Expected): boolean {
    return [...namespaces()].some((namespace) => count(namespace) === 0)
  }

  function remove(taken: readonly Waiter[]): readonly Waiter[] {
    const gone = new Set(taken)
    waiters = waiters.filter((waiter) => !gone.has(waiter))
    return taken
  }

  return {
    add(waiter) {
      if (waiters.length === 0) came = performance.now()
      waiters.push(waiter)
      look()
      added()
    },
    remove(waiter) {
      waiters = waiters.filter((other) => other !== waiter)
      if (waiters.length > 0) return
      leaving.abort()
      look()
    },
    isEmpty: () => waiters.length === 0,
    hasRoomFor(waiter) {
      const { namespace } = waiter.pending.change
      const added = editedPaths(waiter)
      const own = waiters.filter(({ pending }) => pending.change.namespace === namespace)
      return added.length === 0 || new Set([...own.flatMap(editedPaths), ...added]).size <= MOST_EDITED
    },
    likelyMs: () => likelyMsOf(nextOf(inTurns(waiters))),
    namespaces,
    follow(next) {
      added = next
      return () => {
        added = noop
      }
    },
    first: () => waiters[0],
    async gather(expected, pauseMs) {
      const { promise, resolve } = Promise.withResolvers<undefined>()
      const paused = performance.now() + pauseMs
      look = () => {
        const isFull = lengthOfNext(waiters) < waiters.length || waiters.length >= BATCH_LENGTH
        const isAlone = hasNoneOnTheWay(expected) && performance.now() >= paused
        if (waiters.length === 0 || isFull || isAlone) resolve(undefined)
      }
      const stop = expected.follow(look)
      const longest = Math.max(came + LONGEST_GATHERING_MS, paused)
      const timers = [
        setTimeout(look, pauseMs + 1),
        setTimeout(() => resolve(undefined), Math.max(0, longest - performance.now())),
      ]
      look()
      await promise
      for (const timer of timers) clearTimeout(timer)
      stop()
      look = noop
    },
    abandoned() {
      leaving = new AbortController()
      if (waiters.length === 0) leaving.abort()
      return leaving.signal
    },
    takeNext: () => remove(nextOf(inTurns(waiters))),
    take: (isMeant) => remove(waiters.filter(isMeant)),
    takeMore(batch, mayJoin) {
      const next = inTurns(waiters, batch)
      const refused = next.findIndex((waiter) => !mayJoin(waiter))
      return remove(nextOf(refused < 0 ? next : next.slice(0, refused), batch))
    },
  }
}

function nextOf(waiters: readonly Waiter[], batch: readonly PendingChange[] = []): readonly Waiter[] {
  return waiters.slice(0, lengthOfNext(waiters, batch))
}

function noop(): void {
  return undefined
}

/** Of the files whose fields it changes. */
export function editedPaths({ pending }: Pick<Waiter, 'pending'>): readonly string[] {
  return pending.change.files.flatMap(({ path, edit }) => (edit === undefined ? [] : [path]))
}
