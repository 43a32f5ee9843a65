import { LRUCache } from 'lru-cache'
import { resourceKey, type ObjectRef } from '../../domain/resource/resource.ts'
import { makeFairSemaphore } from '../../domain/sharing/fair-semaphore.ts'
import { makeKeyedSemaphore } from '../../domain/sharing/keyed-semaphore.ts'
import { REST_CLOCK, restAfter, type RestClock } from './rest.ts'

/** What a share of writes knows of the resources, and of time. */
export interface LargeWrites {
  /** Told how many characters the API server has sent of a resource. */
  readonly saw: (ref: ResourceName, length: number) => void
  /** Writes the status of a resource, of a large one in the share of its namespace. */
  readonly write: <T>(ref: ResourceName, work: () => Promise<T>) => Promise<T>
}

type ResourceName = Pick<ObjectRef, 'kind' | 'namespace' | 'name'>

/** Writes of large resources at once, of however many namespaces. */
const AT_ONCE = 2
/** Characters. Most resources have some 5,000. */
const LARGE = 16 * 1024
/** As many as there are events in hand, several times. */
const MOST_REMEMBERED = 10_000

/**
 * Shares the writes of large resources among namespaces: of each one, one at once, of all of them two, in turns, and after each a
 * rest. A status is small, but the API server reads, compares and stores all of the resource with it: with 4,000 labels, which need
 * no admission, that takes it 0.2 s, and a claim is written every ten seconds.
 */
export function shareLargeWrites(clock: RestClock = REST_CLOCK): LargeWrites {
  const large = new LRUCache<string, true>({ max: MOST_REMEMBERED })
  const inTurn = makeKeyedSemaphore(1)
  const inPod = makeFairSemaphore(AT_ONCE, clock.elapsed)

  return {
    saw(ref, length) {
      if (length > LARGE) large.set(resourceKey(ref), true)
      else large.delete(resourceKey(ref))
    },
    write<T>(ref: ResourceName, work: () => Promise<T>): Promise<T> {
      if (!large.has(resourceKey(ref))) return work()
      const { namespace } = ref
      const { promise, resolve, reject } = Promise.withResolvers<T>()
      async function writeAndRest(): Promise<void> {
        const began = clock.elapsed()
        await work().then(resolve, reject)
        await restAfter(began, clock)
      }
      void inTurn(namespace, () => inPod(namespace, writeAndRest))
      return promise
    },
  }
}
