import type { NamedObject } from '../cluster/cluster.ts'
import type { Release } from '../domain/network/budget.ts'
import { resourceKey, type ObjectRef } from '../domain/resource/resource.ts'
import { type Awaited } from '../domain/resource/stored-status.ts'
import type { Schedule } from './schedule.ts'

/** An object that is looked at, for all resources of a namespace that wait for it. */
export interface Watched {
  readonly key: string
  /** The namespace of the resources. */
  readonly owner: string
  readonly named: NamedObject
  readonly waiters: Map<Waiter, Expectation>
  isLookedAt: boolean
}

/** What a resource has last seen of the object; `state` once a look has seen the same. */
export interface Expectation extends Awaited {
  state?: string
}

/** A resource that waits. */
export interface Waiter {
  readonly ref: ObjectRef & { readonly uid: string }
  /** `lastAttemptTime` of the attempt that failed. */
  readonly awaited: string
  /** By the API server's time, in milliseconds. Undefined: one look. */
  readonly until: number | undefined
  readonly watched: Set<Watched>
  /** Gives its place back. */
  readonly leave: Release
}

/** The resources that wait, and the objects that they wait for. */
export interface WaitList {
  readonly find: (ref: ObjectRef) => Waiter | undefined
  /** Adds a resource, which must not be there yet. `asked`: its objects are looked at now. */
  readonly add: (waiter: Waiter, waits: readonly Wait[], asked: boolean) => void
  /** Has the objects of a resource looked at as soon as that may be. */
  readonly ask: (waiter: Waiter) => void
  /** The resource no longer waits for this object, or for any. */
  readonly unwatch: (waiter: Waiter, watched?: Watched) => void
  readonly remove: (waiter: Waiter) => void
  /** Puts an object that was looked at back into the schedule, unless nobody waits for it any more. */
  readonly putBack: (watched: Watched) => void
}

export interface Wait {
  readonly named: NamedObject
  readonly expected: Expectation
}

/** Makes an empty list, whose objects are in this schedule. */
export function makeWaitList(schedule: Schedule<Watched>): WaitList {
  const waiters = new Map<string, Waiter>()
  const objects = new Map<string, Watched>()

  function watch(waiter: Waiter, { named, expected }: Wait, asked: boolean): void {
    const owner = waiter.ref.namespace
    const key = JSON.stringify([owner, named.apiVersion, named.kind, named.namespace, named.name])
    const known = objects.get(key)
    const watched = known ?? { key, owner, named, waiters: new Map(), isLookedAt: false }
    watched.waiters.set(waiter, expected)
    waiter.watched.add(watched)
    objects.set(key, watched)
    if (known === undefined) schedule.add(watched, asked)
    else if (asked) schedule.ask(watched)
  }

  function unwatch(waiter: Waiter, watched: Watched): void {
    watched.waiters.delete(waiter)
    waiter.watched.delete(watched)
    if (watched.waiters.size === 0 && !watched.isLookedAt) forget(watched)
  }

  function unwatchAll(waiter: Waiter): void {
    for (const watched of waiter.watched) unwatch(waiter, watched)
  }

  function forget(watched: Watched): void {
    schedule.remove(watched)
    objects.delete(watched.key)
  }

  return {
    find: (ref) => waiters.get(resourceKey(ref)),
    add(waiter, waits, asked) {
      waiters.set(resourceKey(waiter.ref), waiter)
      for (const wait of waits) watch(waiter, wait, asked)
    },
    ask(waiter) {
      for (const watched of waiter.watched) schedule.ask(watched)
    },
    unwatch(waiter, watched) {
      if (watched === undefined) unwatchAll(waiter)
      else unwatch(waiter, watched)
    },
    remove(waiter) {
      unwatchAll(waiter)
      waiter.leave()
      const key = resourceKey(waiter.ref)
      // A later attempt of the resource may wait by now.
      if (waiters.get(key) === waiter) waiters.delete(key)
    },
    putBack(watched) {
      if (watched.waiters.size === 0) forget(watched)
      else schedule.putBack(watched)
    },
  }
}
