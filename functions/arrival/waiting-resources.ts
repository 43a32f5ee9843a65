import { restAfter } from '../cluster/calls/rest.ts'
import type { ListedResource, ListPage, ListQuery } from '../cluster/cluster.ts'
import { errorLogFields } from '../domain/error-log-fields.ts'
import type { OtherObject } from '../domain/event/hint.ts'
import { isFailureReason, REASONS } from '../domain/reasons.ts'
import { KINDS, type Kind } from '../domain/resource/api-names.ts'
import { type ObjectRef } from '../domain/resource/resource.ts'
import { openFairCache } from '../domain/sharing/fair-cache.ts'
import { openFairQueue } from '../domain/sharing/fair-queue.ts'
import { countExcess, FEW } from '../domain/sharing/taken-time.ts'
import { NO_SEARCH, type Search, type Searches } from './arrivals.ts'
import type { Begin } from './begin-all.ts'
import { beginAll } from './begin-all.ts'
import type { SearchParts } from './pinged-sweep.ts'

/** Pages of each kind in one search, of 50 rows each but for the first three. What waits beyond them is looked after at its own pace. */
const MOST_PAGES = 23
/** The same of followers, which are in no hurry to be looked at otherwise. */
const MOST_PAGES_OF_FOLLOWERS = 203
/** Rows of the first page of a namespace: one that turns out to be too large has taken the API server as long as another. */
const FIRST_PAGE = 8
/** Pages that are listed at once, in the turns of the namespaces; of those that may be heavy, one, and after it a rest. */
const AT_ONCE = 2
const HEAVY_AT_ONCE = 1
/**
 * A search leaves its namespace alone for at least so long, and for nine times as long as it took; where it has listed little, for
 * no longer than this: then the API server has been slow, and others may be the cause.
 */
const LEAST_REST_MS = 1_000
const LONGEST_REST_OF_FEW_MS = 2_000
const REST = 9
/** Rows of the usual size: a full page of each sort has fewer, unless its resources have very many labels. */
const LITTLE = 200
/** Milliseconds of the API server for a row of the usual size, where most of it is labels. */
const MS_PER_ROW = 6
/** What counts of a page of few rows, at most: it takes some milliseconds where the API server has the time. */
const MOST_COUNTED_OF_FEW_MS = 100
/** Namespaces that rest at once. */
const MOST_RESTING = 1_000
const PATIENCE_MS = 10_000

/**
 * Looks for the resources that may wait for an object: those whose last attempt did not find something, or has failed for a
 * reason that someone has to fix, and those that follow their sources. The event names no resource, and which objects a
 * resource names is in its spec: so all of them in the namespace are handled, which costs each a look (functions/attempt).
 * Events that come meanwhile share the next search. `everywhere`: resources may refer to objects of other namespaces.
 */
export function makeWaitingSearch(parts: SearchParts, everywhere: boolean): Searches['lookFor'] {
  const { elapsed, wait } = parts
  const queued = new Map<string, Promise<void>>()
  const resting = new Map<string, Promise<void>>()
  const { signal } = new AbortController()
  const turns = takeTurns(parts, signal)

  async function search(key: string, begin: Begin): Promise<void> {
    await resting.get(key)
    // Events that come from now on may be about what this search has passed.
    queued.delete(key)
    const { promise, resolve } = Promise.withResolvers<undefined>()
    resting.set(key, promise)
    const from = elapsed()
    const { refs, weight } = await find({ ...parts, turns }, key)
    turns.weighed(key, weight)
    const most = weight > LITTLE ? Infinity : LONGEST_REST_OF_FEW_MS
    const rest = Math.min(most, Math.max(LEAST_REST_MS, REST * (elapsed() - from)))
    void wait(rest, signal).then(() => {
      resting.delete(key)
      resolve(undefined)
    })
    await beginAll(refs, begin, { forMs: PATIENCE_MS, wait, signal })
  }

  function lookIn(key: string, begin: Begin): Search {
    // Beyond that many, the resources are looked after at their own pace.
    if (!queued.has(key) && !resting.has(key) && resting.size >= MOST_RESTING) return NO_SEARCH
    const planned = queued.get(key)
    const ended = planned ?? search(key, begin)
    queued.set(key, ended)
    return { ended, isShared: planned !== undefined }
  }

  return function lookFor(object, begin) {
    const all = keysOf(object, everywhere).map((key) => lookIn(key, begin))
    const ended = Promise.all(all.map((one) => one.ended)).then(() => undefined)
    return { ended, isShared: all.every(({ isShared }) => isShared) }
  }
}

const ALL = ''

/**
 * The namespace to search, and ALL where others can refer to the object; none if no resource can. Most that refer to it are
 * in its own namespace: the search of that is not kept long by what waits in the others, nor cut short by it.
 */
function keysOf({ namespace }: OtherObject, everywhere: boolean): readonly string[] {
  return [...(namespace === undefined ? [] : [namespace]), ...(everywhere ? [ALL] : [])]
}

/** Lists a page when it is the turn of the search of `key`. */
interface Turns {
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
function takeTurns({ elapsed, wait }: SearchParts, signal: AbortSignal): Turns {
  const terms = { elapsed, taken: countExcess(FEW, elapsed) }
  const [light, heavy] = [openFairQueue(AT_ONCE, terms), openFairQueue(HEAVY_AT_ONCE, terms)]
  const clock = { elapsed, wait: (ms: number) => wait(ms, signal) }
  const weights = openFairCache<number>(MOST_RESTING)
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

function weightOf(rows: readonly ListedResource[]): number {
  return rows.reduce((sum, { weight }) => sum + weight, 0)
}

interface FindParts extends SearchParts {
  readonly turns: Turns
}

/** What was found, and what the rows of all pages weigh. */
interface FoundRefs {
  readonly refs: readonly ObjectRef[]
  readonly weight: number
}

async function find(parts: FindParts, key: string): Promise<FoundRefs> {
  const refs: ObjectRef[] = []
  let weight = 0
  for (const sought of SOUGHT) {
    try {
      for await (const rows of pagesOf(parts, sought, key)) {
        weight += weightOf(rows)
        refs.push(...rows.filter(sought.isFound).map(({ ref }) => ref))
      }
    } catch (error) {
      const origin = errorLogFields(error)
      parts.log.warn({ kind: sought.kind, namespace: key, origin }, 'waiting resources cannot be listed')
    }
  }
  return { refs, weight }
}

/** What an object that has changed may be of interest to. */
interface Sought {
  readonly kind: Kind
  readonly query: Pick<ListQuery, 'phase' | 'follows'>
  readonly mostPages: number
  readonly isFound: (row: ListedResource) => boolean
}

const SOUGHT: readonly Sought[] = [
  ...KINDS.map((kind) => ({
    kind,
    query: { phase: 'Retrying' } as const,
    mostPages: MOST_PAGES,
    isFound: mayWait,
  })),
  {
    kind: 'GitCommit',
    query: { follows: true },
    mostPages: MOST_PAGES_OF_FOLLOWERS,
    isFound: ({ deleting, reason }) => !deleting && !isFailureReason(reason),
  },
]

async function* pagesOf(
  { cluster, turns }: FindParts,
  { kind, query, mostPages }: Sought,
  key: string,
): AsyncGenerator<readonly ListedResource[]> {
  const namespace = key === ALL ? undefined : key
  let next: string | undefined
  for (let pages = 0; pages < mostPages; pages += 1) {
    const wanted = { ...query, namespace, next, first: FIRST_PAGE }
    const page = await turns.list(key, () => cluster.listPage(kind, wanted))
    yield page.rows
    next = page.next
    if (next === undefined) return
  }
}

function mayWait({ deleting, reason }: ListedResource): boolean {
  return !deleting && isFailureReason(reason) && REASONS[reason].retry !== 'transient'
}
