import { LRUCache } from 'lru-cache'
import { resourceKey, type ObjectRef } from '../../domain/resource/resource.ts'
import { openFairQueue } from '../../domain/sharing/fair-queue.ts'
import { makeKeyedSemaphore } from '../../domain/sharing/semaphores/keyed-semaphore.ts'
import { countExcess, FEW } from '../../domain/sharing/taken-time.ts'
import { REST_CLOCK, restAfter, type RestClock } from './rest.ts'

/** What a share of writes knows of the resources, and of time. */
export interface LargeWrites {
  /** Told how many characters the API server has sent of a resource. */
  readonly saw: (ref: ResourceName, length: number) => void
  /** Writes the status of a resource, of a large one in the share of its namespace. */
  readonly write: <T>(ref: ResourceName, work: () => Promise<T>) => Promise<T>
}

type ResourceName = Pick<ObjectRef, 'kind' | 'namespace' | 'name'>

/** Writes of large resources at once, of however many namespaces; and as many of very large ones. */
const AT_ONCE = 2
/** Characters. Most resources have some 5,000. */
const LARGE = 16 * 1024
/** Characters. A resource with some content in its spec has fewer, and takes the API server no longer than others. */
const VERY_LARGE = 64 * 1024
/** As many as there are events in hand, several times. */
const MOST_REMEMBERED = 10_000
/** Milliseconds of the API server for a character, where it is one of labels; while others keep it busy, a call takes longer. */
const MS_PER_CHARACTER = 1.5 / 1024

const NEVER = new AbortController().signal

/**
 * Shares the writes of large resources among namespaces: of each one, one at once, of all of them two, and two of very large ones,
 * and after each a rest, no longer than the write is likely to take where nothing else is done. Next is the namespace that has
 * taken the least, with what its write is likely to take. A status is small, but the API server reads, compares and stores all of
 * the resource with it: with 4,000 labels, which need no admission, that takes it 0.2 s, and a claim is written every ten seconds.
 */
export function shareLargeWrites(clock: RestClock = REST_CLOCK): LargeWrites {
  const lengths = new LRUCache<string, number>({ max: MOST_REMEMBERED })
  const inTurn = makeKeyedSemaphore(1)
  const { elapsed } = clock
  const taken = countExcess(FEW, elapsed)
  const [large, veryLarge] = [
    openFairQueue(AT_ONCE, { elapsed, taken }),
    openFairQueue(AT_ONCE, { elapsed, taken }),
  ]

  return {
    saw(ref, length) {
      if (length > LARGE) lengths.set(resourceKey(ref), length)
      else lengths.delete(resourceKey(ref))
    },
    write<T>(ref: ResourceName, work: () => Promise<T>): Promise<T> {
      const length = lengths.get(resourceKey(ref))
      if (length === undefined) return work()
      const { namespace } = ref
      const { promise, resolve, reject } = Promise.withResolvers<T>()
      async function writeAndRest(length: number): Promise<void> {
        const queue = length > VERY_LARGE ? veryLarge : large
        const likelyMs = length * MS_PER_CHARACTER
        const release = await queue.enter(namespace, NEVER, 'last', 2 * likelyMs)
        const began = elapsed()
        await work().then(resolve, reject)
        await restAfter(began, clock, likelyMs)
        release()
      }
      void inTurn(namespace, () => writeAndRest(length))
      return promise
    },
  }
}
