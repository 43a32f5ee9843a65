import { makeKeyedSemaphore } from '../domain/sharing/keyed-semaphore.ts'
import type { World } from '../world.ts'

/** Looks for the followers of one namespace, and for all of them, that are made at once. A pod has 64 connections to the API server. */
const MOST_OF_NAMESPACE = 8
const MOST_AT_ONCE = 16
const ALL = ''
/** Followers of one namespace that are read and looked at at once: a spec may have 350 KB, and takes twice that in memory. */
const MOST_FOLLOWERS = 8

/** Looks once there is a share for it; see World. */
export type LookShare = World['shareLook']

/**
 * Shares the looks at the sources of followers among namespaces. A follower may name a thousand objects, and one event has all
 * followers of a namespace looked at: without this, their looks keep the calls of everybody's attempts waiting. A
 * namespace without looks takes no memory.
 */
export function shareLooks(): LookShare {
  const inShare = makeKeyedSemaphore(MOST_OF_NAMESPACE)
  const inPod = makeKeyedSemaphore(MOST_AT_ONCE)
  return (namespace, look) => inShare(namespace, () => inPod(ALL, look))
}

/** Lets followers of one namespace take turns; see World. */
export function takeTurnsToFollow(): World['turnToFollow'] {
  return makeKeyedSemaphore(MOST_FOLLOWERS)
}
