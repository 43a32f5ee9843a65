import { makeAllowance } from '../../../domain/sharing/allowance.ts'
import { makeAllowances } from '../../../domain/sharing/allowances.ts'

/** How long threads are used while a namespace waits that has none. */
export interface TurnBounds {
  /** After so long no session joins; after twice as long one of two of a namespace is ended. */
  readonly turnMs: number
  /** After so long the only thread of a namespace is ended; after twice a turn if the namespace has used threads for long. */
  readonly longestMs: number
  /** How many threads of all namespaces together may be used for more than twice a turn. */
  readonly mostLong: number
}

/** A thread, and who uses it. */
export interface UsedThread {
  namespace: string
  leases: number
  /** Since when there were leases, or none, by performance.now(); Infinity: it has ended. */
  since: number
  /** When the last log-in began, where one is being tried. */
  logsInSince: number | undefined
}

/** The turns of threads. */
export interface ThreadTurns {
  readonly begin: (used: UsedThread) => void
  readonly leave: (used: UsedThread) => void
  /** Tries a log-in, for whose first moments the thread is not ended for others who wait. Throws what `work` throws. */
  readonly logIn: <T>(used: UsedThread, work: () => Promise<T>) => Promise<T>
  /** It has ended: what it was used for counts now, and what is left later took nothing more. */
  readonly end: (used: UsedThread) => void
  /** Lower for namespaces that have used threads for less time; the same for those that have used them for about as long. */
  readonly rankOf: (namespace: string) => number
  /** Counts the start of a thread. */
  readonly start: (namespace: string) => void
  /** Whether the namespace has used threads for no more than a quarter of the time. */
  readonly hasShare: (one: Pick<UsedThread, 'namespace'>) => boolean
  /** For which of those who wait a thread may be started now: for all whose namespace has its share, and for one of the others. */
  readonly mayStart: <T extends Pick<UsedThread, 'namespace'>>(waiting: readonly T[]) => readonly T[]
  /** Whether no session should join it while others wait. */
  readonly isOver: (used: UsedThread) => boolean
  /** Which of these is to be ended for others who wait, if one was used for too long; none with which somebody is logging in. */
  readonly next: <T extends UsedThread>(threads: readonly T[]) => T | undefined
}

/** What a namespace may use of threads at once, and gets back in a second, before its turns are short. */
const MOST_MS = 20_000
const MS_PER_SECOND = 250
/** A log-in that is ended makes the server lock the pod out after some more: a usual one ends within this. */
const LOG_IN_MS = 2_000
/** What a start counts. It takes 0.13 s of the processor, and what is read in a thread far less. */
const START_MS = 2_000
/** How many are started in a second for namespaces without a share, all together. */
const STARTS_PER_SECOND = 1
/** Who differs by less has used threads for about as long. */
const SAME_MS = 1_000
/** The most use that is remembered. */
const MOST_USED_MS = 60_000

/** Counts how long the threads are used, and by whom. */
export function makeThreadTurns(
  { turnMs, longestMs, mostLong }: TurnBounds,
  elapsed: () => number,
): ThreadTurns {
  const shares = makeAllowances(MOST_MS, MS_PER_SECOND, elapsed)
  const starts = makeAllowance(1, STARTS_PER_SECOND, elapsed)

  function usedMs({ leases, since }: UsedThread): number {
    return leases === 0 ? 0 : Math.max(0, elapsed() - since)
  }

  function logsIn({ logsInSince }: UsedThread): boolean {
    return logsInSince !== undefined && elapsed() - logsInSince < LOG_IN_MS
  }

  /** What its namespace has left of its share once this use has ended. */
  function leftAfter(used: UsedThread): number {
    return shares.of(used.namespace).left() - usedMs(used)
  }

  function spend(namespace: string, milliseconds: number): void {
    const share = shares.of(namespace)
    share.spend(Math.min(milliseconds, MOST_USED_MS + share.left()))
  }

  function leftOf(namespace: string): number {
    return shares.known(namespace)?.left() ?? MOST_MS
  }

  function hasShare({ namespace }: Pick<UsedThread, 'namespace'>): boolean {
    return leftOf(namespace) >= 0
  }

  return {
    begin(used) {
      if (used.leases === 0) used.since = elapsed()
      used.leases += 1
    },
    leave(used) {
      used.leases -= 1
      if (used.leases > 0 || used.since === Infinity) return
      spend(used.namespace, elapsed() - used.since)
      used.since = elapsed()
    },
    async logIn(used, work) {
      const since = elapsed()
      used.logsInSince = since
      try {
        return await work()
      } finally {
        if (used.logsInSince === since) used.logsInSince = undefined
      }
    },
    end(used) {
      spend(used.namespace, usedMs(used))
      used.since = Infinity
    },
    rankOf: (namespace) => Math.floor(-leftOf(namespace) / SAME_MS),
    start(namespace) {
      if (!hasShare({ namespace })) starts.spend(1)
      spend(namespace, START_MS)
    },
    hasShare,
    mayStart(waiting) {
      const others = waiting.filter((one) => !hasShare(one))
      return [...waiting.filter(hasShare), ...others.slice(0, Math.floor(starts.left()))]
    },
    isOver: (used) => usedMs(used) >= turnMs,
    next(threads) {
      const byNamespace = Map.groupBy(threads, ({ namespace }) => namespace)
      const excessOf = ({ namespace }: UsedThread): number => (byNamespace.get(namespace)?.length ?? 0) - 1
      const long = threads.filter((used) => usedMs(used) >= 2 * turnMs)
      const areTooMany = long.length > mostLong
      const [first] = long
        .filter((used) => !logsIn(used))
        .filter(
          (used) => areTooMany || excessOf(used) > 0 || leftAfter(used) < 0 || usedMs(used) >= longestMs,
        )
        .toSorted((a, b) => excessOf(b) - excessOf(a) || leftAfter(a) - leftAfter(b) || a.since - b.since)
      return first
    },
  }
}
