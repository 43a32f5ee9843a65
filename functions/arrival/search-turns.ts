import { restAfter } from '../cluster/calls/rest.ts'
import type { ListedResource, ListPage } from '../cluster/cluster.ts'
import { openFairCache } from '../domain/sharing/fair-cache.ts'
import { openFairQueue } from '../domain/sharing/fair-queue.ts'
import { countExcess, FEW } from '../domain/sharing/taken-time.ts'
import type { SearchParts } from './pinged-sweep.ts'

/** Pages that are listed at once, in the turns of the namespaces; of those that may be heavy, one, and after it a rest. */
const AT_ONCE = 2
const HEAVY_AT_ONCE = 1
/** Rows of the usual size: a full page of each sort has fewer, unless its resources have very many labels. */
export const LITTLE = 200
/** Milliseconds of the API server for a row of the usual size, where most of it is labels. */
const MS_PER_ROW = 6
/** What counts of a page of few rows, at most: it takes some milliseconds where the API server has the time. */
const MOST_COUNTED_OF_FEW_MS = 100
/** Namespaces of which it is known what a search has found. */
const MOST_WEIGHED = 1_000

/** Lists a page when it is the turn of the search of `key`. */
export interface SearchTurns {
  readonly list: (key: string, list: () => Promise<ListPage>) => Promise<ListPage>
  /** Told what all rows of a search have weighed. */
  readonly weighed: (key: string, weight: number) => void
}

/**
 * Next is the search that has taken the least time lately, with what its page is likely to take by what it found the last time. Of
 * what a page has taken counts what its size explains, and so long it rests after one of many labels: while such pages keep the
 * API server busy, or what it knows lags, all other pages take long as well. Those that may be heavy, as is not known of a namespace
 * that was not searched yet, have a place of their own: no other page waits for them.
 */
export function takeSearchTurns({ elapsed, wait }: SearchParts, signal: AbortSignal): SearchTurns {
  const terms = { elapsed, taken: countExcess(FEW, elapsed) }
  const [light, heavy] = [openFairQueue(AT_ONCE, terms), openFairQueue(HEAVY_AT_ONCE, terms)]
  const clock = { elapsed, wait: (ms: number) => wait(ms, signal) }
  const weights = openFairCache<number>(MOST_WEIGHED)
  return {
    async list(key, list) {
      const expected = weights.get(key, key)
      const queue = expected === undefined || expected > LITTLE ? heavy : light
      const leave = await queue.enter(key, signal, 'last', MS_PER_ROW * (expected ?? 0))
      const began = elapsed()
      const page = await list().catch((error: unknown) => {
        leave()
        throw error
      })
      const weight = weightOf(page.rows)
      if (weight > LITTLE) weights.set(key, key, weight)
      const likelyMs = MS_PER_ROW * weight
      const mostMs = Math.max(MOST_COUNTED_OF_FEW_MS, 2 * likelyMs)
      void restAfter(began, clock, likelyMs).then(() => leave(mostMs))
      return page
    },
    weighed: (key, weight) => weights.set(key, key, weight),
  }
}

/** What rows weigh together: one of the usual size weighs one. */
export function weightOf(rows: readonly ListedResource[]): number {
  return rows.reduce((sum, { weight }) => sum + weight, 0)
}
