import { makeAllowances } from '../domain/sharing/allowances.ts'
import { shareAllowance, spendOneOf } from '../domain/sharing/shared-allowance.ts'
import type { Begin } from './begin-all.ts'
import { beginAll, type Patience } from './begin-all.ts'
import { resourceKey, type ObjectRef } from '../domain/resource/resource.ts'
import type { SearchParts } from './pinged-sweep.ts'

/** Followers of a namespace that are looked at after events, whatever others do: so many at once, and so many in a second. */
const OWN = { most: 200, perSecond: 5 } as const
/** What all namespaces share beyond that: to read one and to look at its source takes some 4 ms, the API server's part included. */
const SHARED = { most: 400, perSecond: 50 } as const

/** Followers of a namespace that wait for the pace; what is found beyond that is found again. */
const MOST_WAITING = 12_000

/**
 * Begins followers that were found, each namespace in the order given and in its pace, and as places become free. What waits already
 * waits once. Resolves once all of their namespaces have begun, or the pod is ending.
 */
export type BeginFollowers = (
  refs: readonly ObjectRef[],
  begin: Begin,
  patience: Patience,
) => Promise<unknown>

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

/**
 * Makes the pace of all searches: one event has every follower of its namespace read and looked at, whether or not its source has
 * changed.
 */
export function paceFound({
  elapsed,
  wait,
  ending,
}: Pick<SearchParts, 'elapsed' | 'wait' | 'ending'>): BeginFollowers {
  const { signal } = new AbortController()
  const own = makeAllowances(OWN.most, OWN.perSecond, elapsed)
  const shared = shareAllowance({ ...SHARED, elapsed, wait: (ms) => wait(ms, signal) })
  const lines = new Map<string, Line>()
  ending?.addEventListener('abort', shared.close, { once: true })

  async function beginAllOf(namespace: string, waiting: Line['waiting'], patience: Patience): Promise<void> {
    const mine = own.of(namespace)
    for (const [key, { ref, begin }] of waiting) {
      const spent = mine.left() >= 1 ? spendOneOf(mine) : await shared.spendOne(namespace, mine)
      waiting.delete(key)
      // Another pod, or the interval, finds what is left.
      if (spent === undefined) continue
      if (!begin(ref)) await beginAll([ref], begin, patience)
    }
    lines.delete(namespace)
  }

  function lineUp(namespace: string, found: readonly Waiting[], patience: Patience): Promise<void> {
    const line: Line = lines.get(namespace) ?? { waiting: new Map(), begun: undefined }
    lines.set(namespace, line)
    for (const one of found) {
      const key = resourceKey(one.ref)
      if (line.waiting.size < MOST_WAITING && !line.waiting.has(key)) line.waiting.set(key, one)
    }
    return (line.begun ??= beginAllOf(namespace, line.waiting, patience))
  }

  return (refs, begin, patience) => {
    const found = Map.groupBy(refs, ({ namespace }) => namespace)
    return Promise.all(
      [...found].map(([namespace, theirs]) =>
        lineUp(
          namespace,
          theirs.map((ref) => ({ ref, begin })),
          patience,
        ),
      ),
    )
  }
}
