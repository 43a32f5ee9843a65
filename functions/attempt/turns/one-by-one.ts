import type { HeldShare } from './giving-way.ts'
import type { WaitingHolder } from './lane-bounds.ts'
import { lookAgain } from './look-again.ts'

/**
 * What was begun so many milliseconds ago keeps no other one of its namespace waiting: a server may take long, and whoever keeps the
 * thread busy must not have others wait for each of their servers, one after the other.
 */
const NEW_MS = 250

/** The lane in which namespaces begin one by one. */
export interface OneByOneParts {
  readonly shares: Iterable<HeldShare>
  /** Those that wait now. */
  readonly waiters: () => readonly WaitingHolder[]
  /** Whether the thread had no rest lately. */
  readonly isBusy: () => boolean
  /** Starts those for whom there is room by now. */
  readonly serve: () => void
  /** Milliseconds of a clock that is never set. */
  readonly now: () => number
}

/** Has namespaces begin one by one while the thread is busy. */
export interface OneByOne {
  /** Whether the namespace waits for what it has begun just now. */
  readonly mustWait: (namespace: string) => boolean
  /** Somebody waits: looks again and again, as long as that is so. */
  readonly watch: () => void
}

/**
 * While the thread has no rest, more at once only take longer each, whosever they are: then a namespace beside others begins another
 * one when the one before has ended, or is a quarter of a second old. So few share the thread, whoever comes with one begins at once,
 * and what waits meanwhile is pushed together.
 */
export function beginOneByOne({ shares, waiters, isBusy, serve, now }: OneByOneParts): OneByOne {
  function hasOthers(namespace: string): boolean {
    const isOther = ({ holder }: Pick<WaitingHolder, 'holder'>): boolean => holder.namespace !== namespace
    return [...shares].some(isOther) || waiters().some(isOther)
  }

  return {
    mustWait(namespace) {
      const isNew = ({ holder, since }: HeldShare): boolean =>
        holder.namespace === namespace && now() - since < NEW_MS
      return isBusy() && [...shares].some(isNew) && hasOthers(namespace)
    },
    watch: lookAgain({ isNeeded: () => waiters().length > 0, look: serve }),
  }
}
