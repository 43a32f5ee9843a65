import { makeAllowances } from '../domain/sharing/allowances.ts'
import { shareAllowance, spendOneOf } from '../domain/sharing/shared-allowance.ts'
import type { Begin } from './begin-line.ts'
import { openBeginLine } from './begin-line.ts'
import { resourceKey, type ObjectRef } from '../domain/resource/resource.ts'
import type { Timing } from '../domain/incoming/timing.ts'

/** How many resources begin at once, and how many in a second after that. */
interface Rate {
  readonly most: number
  readonly perSecond: number
}

/** The pace of a namespace, whatever others do, and what all share beyond that. */
export interface Pace {
  readonly own: Rate
  readonly shared: Rate
}

/** Of followers that searches have found: to read one and to look at its source takes some 4 ms, the API server's part included. */
export const OF_FOLLOWERS: Pace = { own: { most: 200, perSecond: 5 }, shared: { most: 400, perSecond: 50 } }

/**
 * Of those that unsigned events have found, and of those that refer to an object of another namespace: that is not what changes of
 * their own namespace, told by a source that is known, wait for.
 */
export const OF_OTHER_FOLLOWERS: Pace = {
  own: { most: 200, perSecond: 2 },
  shared: { most: 400, perSecond: 20 },
}

/** Of what sources of the operator tell of: a source tells of one change after the other, whosever it is. */
export const OF_SOURCES: Pace = { own: { most: 20, perSecond: 5 }, shared: { most: 320, perSecond: 20 } }

/** Resources of a namespace that wait for the pace; what is found or told beyond that is found again. */
const MOST_WAITING = 12_000

/**
 * Begins resources, each namespace in the order given and in its pace, and as places become free, for which one waits for `forMs`
 * milliseconds. What waits already waits once. Resolves once all of their namespaces have begun, or the pod is ending.
 */
export type BeginInPace = (refs: readonly ObjectRef[], begin: Begin, forMs: number) => Promise<unknown>

/** One that waits, and how it is to begin. */
interface Waiting {
  readonly ref: ObjectRef
  readonly begin: Begin
}

/** What waits of a namespace, by its key, until all have begun. */
interface Line {
  readonly waiting: Map<string, Waiting>
  begun: Promise<void> | undefined
}

/** The clock, in milliseconds. */
export interface PaceClock extends Pick<Timing, 'elapsed' | 'wait'> {
  /** Fires when the pod is about to end: what waits for its pace waits no more. Default: never. */
  readonly ending?: AbortSignal
}

/** Opens the lines of all namespaces, which are empty. */
export function openPacedLines(pace: Pace, { elapsed, wait, ending }: PaceClock): BeginInPace {
  const { signal } = new AbortController()
  const own = makeAllowances(pace.own.most, pace.own.perSecond, elapsed)
  const shared = shareAllowance({ ...pace.shared, elapsed, wait: (ms) => wait(ms, signal) })
  const beginAll = openBeginLine({ elapsed, wait, ...(ending && { ending }) })
  const lines = new Map<string, Line>()
  ending?.addEventListener('abort', shared.close, { once: true })

  async function beginAllOf(namespace: string, waiting: Line['waiting'], forMs: number): Promise<void> {
    const mine = own.of(namespace)
    for (const [key, { ref, begin }] of waiting) {
      const spent = mine.left() >= 1 ? spendOneOf(mine) : await shared.spendOne(namespace, mine)
      waiting.delete(key)
      // Another pod, or the interval, finds what is left.
      if (spent === undefined) continue
      if (!begin(ref)) await beginAll([ref], begin, { forMs, owner: namespace })
    }
    lines.delete(namespace)
  }

  function lineUp(namespace: string, found: readonly Waiting[], forMs: number): Promise<void> {
    const line: Line = lines.get(namespace) ?? { waiting: new Map(), begun: undefined }
    lines.set(namespace, line)
    for (const one of found) {
      const key = resourceKey(one.ref)
      if (line.waiting.size < MOST_WAITING && !line.waiting.has(key)) line.waiting.set(key, one)
    }
    return (line.begun ??= beginAllOf(namespace, line.waiting, forMs))
  }

  return (refs, begin, forMs) => {
    const found = Map.groupBy(refs, ({ namespace }) => namespace)
    return Promise.all(
      [...found].map(([namespace, theirs]) =>
        lineUp(
          namespace,
          theirs.map((ref) => ({ ref, begin })),
          forMs,
        ),
      ),
    )
  }
}
