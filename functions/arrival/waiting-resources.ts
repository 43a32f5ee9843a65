import type { NamedTogether } from '../domain/event/hint.ts'
import type { FollowedObjects } from '../followed-objects.ts'
import { keyOf } from '../followed-objects.ts'
import { NO_SEARCH, type Search, type Searches } from './arrivals.ts'
import type { Begin } from './begin-line.ts'
import { openBeginLine } from './begin-line.ts'
import { findWaiting } from './find-waiting.ts'
import { OF_FOLLOWERS, OF_OTHER_FOLLOWERS, openPacedLines, type Pace } from './paced-lines.ts'
import type { SearchParts } from './pinged-sweep.ts'
import { LITTLE, takeSearchTurns } from './search-turns.ts'

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
/** Objects that one search is about; of more than these, all followers are begun. */
const MOST_CHANGED = 10_000

/** What these searches use. */
export interface WaitingParts extends SearchParts {
  /** What is known of followers, from looks at them. */
  readonly followed: Pick<FollowedObjects, 'mayFollow'>
}

/** A search that has not begun. */
interface Planned {
  readonly ended: Promise<void>
  /** The objects that it is about, which events that share it add to. */
  readonly keys: Set<number>
}

/** How a search begins: what it is about, how, and how often it is made again. */
interface Order {
  readonly keys: Set<number>
  readonly begin: Begin
  readonly retries: number
}

/**
 * Looks for the resources that may wait for an object: those whose last attempt did not find something, or has failed for a
 * reason that someone has to fix, and those that follow their sources. The event names no resource, and which objects a
 * resource names is in its spec: so all that wait in the namespace are handled, which costs each a look (functions/attempt), and
 * the followers of which it is not known yet that they refer to something else. Events that come meanwhile share the next search.
 * What unsigned events ask for has lists and a pace of its own: it keeps nothing waiting that events of the operator's sources ask
 * for. `everywhere`: resources may refer to objects of other namespaces.
 */
export function makeWaitingSearch(parts: WaitingParts, everywhere: boolean): Searches['lookFor'] {
  const known = openSearches(parts, OF_FOLLOWERS)
  const ofAnybody = openSearches(parts, OF_OTHER_FOLLOWERS)
  return function lookFor(objects, begin, sender) {
    const lookIn = sender === 'anybody' ? ofAnybody : known
    const all = keysOf(objects, everywhere).map((key) => lookIn(key, objects, begin))
    const ended = Promise.all(all.map((one) => one.ended)).then(() => undefined)
    return { ended, isShared: all.every(({ isShared }) => isShared) }
  }
}

/** Opens the searches that senders of one sort ask for. `pace`: of the followers of a namespace of which an object has changed. */
function openSearches(
  parts: WaitingParts,
  pace: Pace,
): (key: string, objects: NamedTogether, begin: Begin) => Search {
  const { elapsed, wait } = parts
  const queued = new Map<string, Planned>()
  const resting = new Map<string, Promise<void>>()
  const { signal } = new AbortController()
  const turns = takeSearchTurns(parts, signal)
  const beginAll = openBeginLine({ elapsed, wait })
  // One event may have every follower of its namespace read and looked at, whether or not its source has changed.
  const beginFollowers = openPacedLines(pace, parts)
  const beginFollowersElsewhere = openPacedLines(OF_OTHER_FOLLOWERS, parts)

  async function search(key: string, { keys, begin, retries }: Order): Promise<void> {
    await resting.get(key)
    // Events that come from now on may be about what this search has passed.
    queued.delete(key)
    const { promise, resolve } = Promise.withResolvers<undefined>()
    resting.set(key, promise)
    const from = elapsed()
    const isOfAll = key === ALL
    const changed = { areOfOneNamespace: !isOfAll, keys: keys.size > MOST_CHANGED ? 'any' : keys } as const
    const wanted = { key, namespace: isOfAll ? undefined : key, changed }
    const { refs, followers, weight, isCut } = await findWaiting({ ...parts, turns }, wanted)
    turns.weighed(key, weight)
    const most = weight > LITTLE ? Infinity : LONGEST_REST_OF_FEW_MS
    const rest = Math.min(most, Math.max(LEAST_REST_MS, REST * (elapsed() - from)))
    const begun = [
      beginAll(refs, begin, { forMs: PATIENCE_MS, owner: key }),
      (isOfAll ? beginFollowersElsewhere : beginFollowers)(followers, begin, PATIENCE_MS),
    ]
    // Of all namespaces: none waits for what is found in another one.
    void Promise.all([wait(rest, signal), ...(isOfAll ? [] : begun)]).then(() => {
      resting.delete(key)
      resolve(undefined)
    })
    const again = isCut && retries > 0 ? plan(key, { keys, begin, retries: retries - 1 }).ended : undefined
    await Promise.all([...begun, again])
  }

  function plan(key: string, order: Order): Search {
    // Beyond that many, the resources are looked after at their own pace.
    if (!queued.has(key) && !resting.has(key) && resting.size >= MOST_RESTING) return NO_SEARCH
    const planned = queued.get(key)
    if (planned !== undefined) {
      addTo(planned.keys, order.keys)
      return { ended: planned.ended, isShared: true }
    }
    const ended = search(key, order)
    queued.set(key, { ended, keys: order.keys })
    return { ended, isShared: false }
  }

  return (key, { namespace, names }, begin) => {
    const ofNamespace = namespace === undefined ? {} : { namespace }
    const keys = new Set(names.map((name) => keyOf({ ...ofNamespace, name })))
    return plan(key, { keys, begin, retries: RETRIES })
  }
}

/** Adds keys, until there are too many to be named. */
function addTo(keys: Set<number>, more: ReadonlySet<number>): void {
  for (const key of more) {
    if (keys.size > MOST_CHANGED) return
    keys.add(key)
  }
}

const ALL = ''

/**
 * The namespace to search, and ALL where others can refer to the object; none if no resource can. Most that refer to it are
 * in its own namespace: the search of that is not kept long by what waits in the others, nor cut short by it.
 */
function keysOf({ namespace }: NamedTogether, everywhere: boolean): readonly string[] {
  return [...(namespace === undefined ? [] : [namespace]), ...(everywhere ? [ALL] : [])]
}
