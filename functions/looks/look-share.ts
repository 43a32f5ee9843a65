import { ended } from '../cluster/calls/exchange.ts'
import { REST_CLOCK, type RestClock } from '../cluster/calls/rest.ts'
import type { Release } from '../domain/network/budget.ts'
import { makeFairSemaphore } from '../domain/sharing/semaphores/fair-semaphore.ts'
import { makeKeyedSemaphore } from '../domain/sharing/semaphores/keyed-semaphore.ts'
import { openKeyedTurns } from '../domain/sharing/keyed-turns.ts'
import type { World } from '../world.ts'

/** Looks for the followers of one namespace, and for all of them, that are made at once. A pod has 64 connections to the API server. */
const MOST_OF_NAMESPACE = 8
const MOST_AT_ONCE = 16
/** The same of objects outside of the core API, whose API may hang: of one group, and of all of them. */
const MOST_OF_GROUP = 4
const MOST_OF_OTHERS = 12

/** Looks once there is a share for it; see World. */
export type LookShare = World['shareLook']

/**
 * Shares the looks at the sources of followers among namespaces. A follower may name a thousand objects, and one event has all
 * followers of a namespace looked at: without this, their looks keep the calls of everybody's attempts waiting. A
 * namespace without looks takes no memory. Namespaces take turns: a look may take long, and ten that have many would keep one of
 * another waiting for eight of each. No look at an object of the core API waits for one at an API that hangs. `elapsed`: milliseconds
 * of a clock that is never set.
 */
export function shareLooks(elapsed: () => number): LookShare {
  const inShare = makeKeyedSemaphore(MOST_OF_NAMESPACE)
  const ofCore = makeFairSemaphore(MOST_AT_ONCE, elapsed)
  const ofGroup = openKeyedTurns(MOST_OF_GROUP, elapsed)
  const ofOthers = makeFairSemaphore(MOST_OF_OTHERS, elapsed)
  // A look has a time limit of its own.
  const { signal } = new AbortController()
  return ({ namespace: owner, apiVersion }, look) =>
    inShare(owner, () => {
      const [group = '', version] = apiVersion.split('/', 2)
      if (version === undefined) return ofCore(owner, look)
      return ofGroup({ key: group, owner, signal, late: ended }, () => ofOthers(owner, look))
    })
}

/** Looks at what is missing that are made at once, and those for one namespace: the API of its objects may not answer. */
const MOST_IN_FLIGHT = 16
const MOST_OF_OWNER = 4
/** For so long a look at an object outside of the core API counts, in milliseconds: an API that hangs costs no processor. */
const LONGEST_MS = 1_000

/** The looks at what is missing that are under way. */
export interface LooksUnderWay {
  readonly hasRoom: () => boolean
  /** Whether one more may be made for this namespace. */
  readonly hasShare: (owner: string) => boolean
  /** Counts one more at an object of this API, until the result is called. */
  readonly enter: (owner: string, apiVersion: string) => Release
}

/** Counts looks: 16 at once, 4 of them for one namespace, and those outside of the core API for a second at most. */
export function countLooks({ wait }: Pick<RestClock, 'wait'> = REST_CLOCK): LooksUnderWay {
  const counts = new Map<string, number>()
  let all = 0

  function count(owner: string, step: number): void {
    all += step
    const own = (counts.get(owner) ?? 0) + step
    if (own === 0) counts.delete(owner)
    else counts.set(owner, own)
  }

  return {
    hasRoom: () => all < MOST_IN_FLIGHT,
    hasShare: (owner) => (counts.get(owner) ?? 0) < MOST_OF_OWNER,
    enter(owner, apiVersion) {
      count(owner, 1)
      let isCounted = true
      const leave = (): void => {
        if (isCounted) count(owner, -1)
        isCounted = false
      }
      if (apiVersion.includes('/')) void wait(LONGEST_MS).then(leave)
      return leave
    },
  }
}
