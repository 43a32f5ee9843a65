import type { ListedResource, ListQuery } from '../cluster/cluster.ts'
import { errorLogFields } from '../domain/error-log-fields.ts'
import { Failure } from '../domain/failure.ts'
import { isFailureReason, REASONS } from '../domain/reasons.ts'
import { KINDS, type Kind } from '../domain/resource/api-names.ts'
import type { ObjectRef } from '../domain/resource/resource.ts'
import type { ChangedObjects, FollowedObjects } from '../followed-objects.ts'
import type { SearchParts } from './pinged-sweep.ts'
import { weightOf, type SearchTurns } from './search-turns.ts'

/** Pages of each kind in one search, of 50 rows each but for the first three. What waits beyond them is looked after at its own pace. */
const MOST_PAGES = 23
/** The same of followers, which are in no hurry to be looked at otherwise. */
const MOST_PAGES_OF_FOLLOWERS = 203
/** Rows of the first page of a namespace: one that turns out to be too large has taken the API server as long as another. */
const FIRST_PAGE = 8

/** What a search uses, and the turns in which it lists its pages. */
export interface FindParts extends SearchParts {
  readonly turns: SearchTurns
  readonly followed: Pick<FollowedObjects, 'mayFollow'>
}

/** What to search: the namespace, or all without it, and what has changed. */
export interface Wanted {
  /** Whose turn its pages take. */
  readonly key: string
  readonly namespace: string | undefined
  readonly changed: ChangedObjects
}

/** What was found: what may wait, and what follows an object that has changed, or may do so. */
export interface FoundRefs {
  readonly refs: readonly ObjectRef[]
  readonly followers: readonly ObjectRef[]
  /** What the rows of all pages weigh. */
  readonly weight: number
  /** Something is missing that the next search may find. */
  readonly isCut: boolean
}

/** Lists what may wait or follow. Does not throw: a list that the API server does not answer is left out. */
export async function findWaiting(parts: FindParts, wanted: Wanted): Promise<FoundRefs> {
  const refs: ObjectRef[] = []
  const followers: ObjectRef[] = []
  const mayFollow = ({ ref }: ListedResource): boolean => parts.followed.mayFollow(ref, wanted.changed)
  let [weight, isCut] = [0, false]
  for (const sought of SOUGHT) {
    try {
      for await (const rows of pagesOf(parts, sought, wanted)) {
        weight += weightOf(rows)
        const found = rows.filter((row) => sought.isFound(row, mayFollow)).map(({ ref }) => ref)
        ;(sought.query.follows === true ? followers : refs).push(...found)
      }
    } catch (error) {
      const origin = errorLogFields(error)
      isCut ||= error instanceof Failure && REASONS[error.reason].retry === 'transient'
      parts.log.warn(
        { kind: sought.kind, namespace: wanted.namespace ?? '', origin },
        'waiting resources cannot be listed',
      )
    }
  }
  return { refs, followers, weight, isCut }
}

/** What an object that has changed may be of interest to. */
interface Sought {
  readonly kind: Kind
  readonly query: Pick<ListQuery, 'phase' | 'follows'>
  readonly mostPages: number
  readonly isFound: (row: ListedResource, mayFollow: (row: ListedResource) => boolean) => boolean
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
    isFound: (row, mayFollow) => !row.deleting && !isFailureReason(row.reason) && mayFollow(row),
  },
]

async function* pagesOf(
  { cluster, turns }: FindParts,
  { kind, query, mostPages }: Sought,
  { key, namespace }: Wanted,
): AsyncGenerator<readonly ListedResource[]> {
  let next: string | undefined
  for (let pages = 0; pages < mostPages; pages += 1) {
    const page = await turns.list(key, () =>
      cluster.listPage(kind, { ...query, namespace, next, first: FIRST_PAGE }),
    )
    yield page.rows
    next = page.next
    if (next === undefined) return
  }
}

function mayWait({ deleting, reason }: ListedResource): boolean {
  return !deleting && isFailureReason(reason) && REASONS[reason].retry !== 'transient'
}
