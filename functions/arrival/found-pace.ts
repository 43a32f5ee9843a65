import { makeAllowances } from '../domain/sharing/allowances.ts'
import { shareAllowance, spendOneOf } from '../domain/sharing/shared-allowance.ts'
import type { Begin } from './begin-all.ts'
import { beginAll, type Patience } from './begin-all.ts'
import type { ObjectRef } from '../domain/resource/resource.ts'
import type { SearchParts } from './pinged-sweep.ts'

/** Followers of a namespace that are looked at after events, whatever others do: so many at once, and so many in a second. */
const OWN = { most: 200, perSecond: 5 } as const
/** What all namespaces share beyond that: to read one and to look at its source takes some 4 ms, the API server's part included. */
const SHARED = { most: 400, perSecond: 50 } as const

/** Begins followers that were found, each namespace in the order given and in its pace, and as places become free. */
export type BeginFollowers = (
  refs: readonly ObjectRef[],
  begin: Begin,
  patience: Patience,
) => Promise<unknown>

/**
 * Makes the pace of all searches: one event has every follower of its namespace read and looked at, whether or not its source has
 * changed.
 */
export function paceFound({ elapsed, wait }: Pick<SearchParts, 'elapsed' | 'wait'>): BeginFollowers {
  const { signal } = new AbortController()
  const own = makeAllowances(OWN.most, OWN.perSecond, elapsed)
  const shared = shareAllowance({ ...SHARED, elapsed, wait: (ms) => wait(ms, signal) })

  async function beginOf(
    namespace: string,
    refs: readonly ObjectRef[],
    begin: Begin,
    patience: Patience,
  ): Promise<void> {
    const mine = own.of(namespace)
    for (const ref of refs) {
      if (mine.left() >= 1) spendOneOf(mine)
      else await shared.spendOne(namespace, mine)
      if (!begin(ref)) await beginAll([ref], begin, patience)
    }
  }

  return (refs, begin, patience) =>
    Promise.all(
      [...Map.groupBy(refs, ({ namespace }) => namespace)].map(([namespace, theirs]) =>
        beginOf(namespace, theirs, begin, patience),
      ),
    )
}
