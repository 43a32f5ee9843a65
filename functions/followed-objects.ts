import type { OtherObject } from './domain/event/hint.ts'
import type { ObjectMeta } from './domain/resource/resource.ts'
import { openFairCache } from './domain/sharing/fair-cache.ts'

/** A follower in the generation of its spec, as a list or a read names it. */
type Follower = Pick<ObjectMeta, 'namespace' | 'uid' | 'generation'>

/**
 * Which objects followers refer to, as looks at them have read it: a list of resources has no specs, and the search after a change of
 * an object would begin all followers otherwise.
 */
export interface FollowedObjects {
  /** Remembers what the spec of this generation refers to; `objects` is called where that is not known yet. */
  readonly note: (follower: Follower, objects: () => readonly OtherObject[]) => void
  /**
   * Whether it may refer to one of these objects of its namespace, or to one of those outside of it: also where it is not known what
   * it refers to.
   */
  readonly mayFollow: (follower: Follower, changed: ChangedObjects) => boolean
}

/** Objects that have changed: all of the namespace that was searched, or of no namespace or any where all were. */
export interface ChangedObjects {
  readonly areOfOneNamespace: boolean
  /** By `keyOf`; 'any': there are too many to be named. */
  readonly keys: ReadonlySet<number> | 'any'
}

/** What is known of a follower: keys of the objects of its namespace, and those outside of it. */
interface Known {
  readonly generation: number
  readonly inside: Uint32Array
  readonly outside: Uint32Array
}

/** In words of four bytes: 8 MiB, for 20,000 followers of one object, or 6,000 of a hundred. */
const MOST_WORDS = 2_000_000
const WORDS_OF_EACH = 100

/** Begins with none known. Of the namespace that has the most of them, the oldest are forgotten. */
export function openFollowedObjects(): FollowedObjects {
  const all = openFairCache<Known>(
    MOST_WORDS,
    ({ inside, outside }) => WORDS_OF_EACH + inside.length + outside.length,
  )
  return {
    note({ namespace, uid, generation }, objects) {
      if (all.get(namespace, uid)?.generation === generation) return
      const named = objects()
      const inside = named.filter((object) => object.namespace === namespace).map(keyOf)
      const others = named.filter((object) => object.namespace !== namespace).map(keyOf)
      // Whether a kind has namespaces is not in the spec.
      const clusterWide = named.map(({ name }) => keyOf({ name }))
      all.set(namespace, uid, {
        generation,
        inside: distinct(inside),
        outside: distinct([...others, ...clusterWide]),
      })
    },
    mayFollow({ namespace, uid, generation }, { areOfOneNamespace, keys }) {
      if (keys === 'any') return true
      const known = all.get(namespace, uid)
      if (known?.generation !== generation) return true
      return (areOfOneNamespace ? known.inside : known.outside).some((key) => keys.has(key))
    },
  }
}

/** A number of 32 bits (FNV-1a). Where two objects have the same, a follower is looked at once too often. */
export function keyOf({ namespace = '', name }: OtherObject): number {
  const text = `${namespace}/${name}`
  let hash = 0x81_1c_9d_c5
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01_00_01_93)
  return hash >>> 0
}

function distinct(keys: readonly number[]): Uint32Array {
  return Uint32Array.from(new Set(keys))
}
