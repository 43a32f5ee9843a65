import type { ListedResource, ListQuery } from '../cluster/cluster.ts'
import { errorLogFields } from '../domain/error-log-fields.ts'
import type { OtherObject } from '../domain/event/hint.ts'
import { Failure } from '../domain/failure.ts'
import { isFailureReason, REASONS } from '../domain/reasons.ts'
import { KINDS, type Kind } from '../domain/resource/api-names.ts'
import { type ObjectRef } from '../domain/resource/resource.ts'
import { NO_SEARCH, type Search, type Searches } from './arrivals.ts'
import type { Begin } from './begin-line.ts'
import { openBeginLine } from './begin-line.ts'
import { OF_FOLLOWERS, openPacedLines } from './paced-lines.ts'
import type { SearchParts } from './pinged-sweep.ts'
import { LITTLE, takeSearchTurns, weightOf, type SearchTurns } from './search-turns.ts'

/** Pages of each kind in one search, of 50 rows each but for the first three. What waits beyond them is looked after at its own pace. */
const MOST_PAGES = 23
/** The same of followers, which are in no hurry to be looked at otherwise. */
const MOST_PAGES_OF_FOLLOWERS = 203
/** Rows of the first page of a namespace: one that turns out to be too large has taken the API server as long as another. */
const FIRST_PAGE = 8
/**
 * A search leaves its namespace alone for at least so long, and for nine times as long as it took; where it has listed little, for
 * no longer than this: then the API server has been slow, and others may be the cause.
 */
const LEAST_REST_MS = 1_000
const LONGEST_REST_OF_FEW_MS = 2_000
const REST = 9
/** Namespaces that rest at once. */
const MOST_RESTING = 1_000
const PATIENCE_MS = 10_000
/** How often a search is made again where the API server gives no answer: nobody else may tell of what has changed. */
const RETRIES = 3

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
  const turns = takeSearchTurns(parts, signal)
  const beginAll = openBeginLine({ elapsed, wait })
  // One event has every follower of its namespace read and looked at, whether or not its source has changed.
  const beginFollowers = openPacedLines(OF_FOLLOWERS, parts)

  async function search(key: string, begin: Begin, retries: number): Promise<void> {
    await resting.get(key)
    // Events that come from now on may be about what this search has passed.
    queued.delete(key)
    const { promise, resolve } = Promise.withResolvers<undefined>()
    resting.set(key, promise)
    const from = elapsed()
    const { refs, followers, weight, isCut } = await find({ ...parts, turns }, key)
    turns.weighed(key, weight)
    const most = weight > LITTLE ? Infinity : LONGEST_REST_OF_FEW_MS
    const rest = Math.min(most, Math.max(LEAST_REST_MS, REST * (elapsed() - from)))
    const begun = [
      beginAll(refs, begin, { forMs: PATIENCE_MS, owner: key }),
      beginFollowers(followers, begin, PATIENCE_MS),
    ]
    // Of all namespaces: none waits for what is found in another one.
    void Promise.all([wait(rest, signal), ...(key === ALL ? [] : begun)]).then(() => {
      resting.delete(key)
      resolve(undefined)
    })
    const again = isCut && retries > 0 ? lookIn(key, begin, retries - 1).ended : undefined
    await Promise.all([...begun, again])
  }

  function lookIn(key: string, begin: Begin, retries = RETRIES): Search {
    // Beyond that many, the resources are looked after at their own pace.
    if (!queued.has(key) && !resting.has(key) && resting.size >= MOST_RESTING) return NO_SEARCH
    const planned = queued.get(key)
    const ended = planned ?? search(key, begin, retries)
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

interface FindParts extends SearchParts {
  readonly turns: SearchTurns
}

/** What was found: what may wait, and what follows. */
interface FoundRefs {
  readonly refs: readonly ObjectRef[]
  readonly followers: readonly ObjectRef[]
  /** What the rows of all pages weigh. */
  readonly weight: number
  /** Something is missing that the next search may find. */
  readonly isCut: boolean
}

async function find(parts: FindParts, key: string): Promise<FoundRefs> {
  const refs: ObjectRef[] = []
  const followers: ObjectRef[] = []
  let [weight, isCut] = [0, false]
  for (const sought of SOUGHT) {
    try {
      for await (const rows of pagesOf(parts, sought, key)) {
        weight += weightOf(rows)
        const found = rows.filter(sought.isFound).map(({ ref }) => ref)
        ;(sought.query.follows === true ? followers : refs).push(...found)
      }
    } catch (error) {
      const origin = errorLogFields(error)
      isCut ||= error instanceof Failure && REASONS[error.reason].retry === 'transient'
      parts.log.warn({ kind: sought.kind, namespace: key, origin }, 'waiting resources cannot be listed')
    }
  }
  return { refs, followers, weight, isCut }
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
