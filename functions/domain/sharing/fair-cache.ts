/** Values by key. Each counts to the owner that has used it last, unless that one has more than the owner before. */
export interface FairCache<V> {
  readonly get: (owner: string, key: string) => V | undefined
  readonly set: (owner: string, key: string, value: V) => void
  /** Forgets the value, if that is still the one of the key. */
  readonly forget: (key: string, value: V) => void
}

interface Place<V> {
  readonly owner: string
  readonly value: V
  readonly size: number
}

/** What an owner has, in the order of its last use. */
interface Share {
  readonly keys: Set<string>
  size: number
}

/**
 * Keeps values up to `most` in all, by their sizes (of 1 each where there is no `sizeOf`): beyond that, the owner that has
 * the most of them loses what it used least recently. So an owner loses none for another one that has more. A value that is
 * larger than `most` is not kept.
 */
export function openFairCache<V>(
  most: number,
  sizeOf: (value: V, key: string) => number = () => 1,
): FairCache<V> {
  const places = new Map<string, Place<V>>()
  const shares = new Map<string, Share>()
  let total = 0

  function remove(key: string): Place<V> | undefined {
    const place = places.get(key)
    const share = shares.get(place?.owner ?? '')
    if (place === undefined || share === undefined) return undefined
    places.delete(key)
    share.keys.delete(key)
    share.size -= place.size
    total -= place.size
    if (share.keys.size === 0) shares.delete(place.owner)
    return place
  }

  function add(key: string, place: Place<V>): void {
    if (place.size > most) return
    const share = shares.get(place.owner) ?? { keys: new Set(), size: 0 }
    shares.set(place.owner, share)
    places.set(key, place)
    share.keys.add(key)
    share.size += place.size
    total += place.size
    while (total > most) {
      const largest = [...shares.values()].reduce((one, other) => (other.size > one.size ? other : one))
      const [oldest = key] = largest.keys
      remove(oldest)
    }
  }

  /** Otherwise, who has many values could take over those that others use as well, and lose them. */
  function ownerAfter(user: string, before: string | undefined): string {
    const sizeAt = (owner: string): number => shares.get(owner)?.size ?? 0
    return before === undefined || sizeAt(user) <= sizeAt(before) ? user : before
  }

  return {
    get(user, key) {
      const before = places.get(key)
      if (before === undefined) return undefined
      const owner = ownerAfter(user, before.owner)
      remove(key)
      add(key, { ...before, owner })
      return before.value
    },
    set(user, key, value) {
      const owner = ownerAfter(user, places.get(key)?.owner)
      remove(key)
      add(key, { owner, value, size: sizeOf(value, key) })
    },
    forget(key, value) {
      if (places.get(key)?.value === value) remove(key)
    },
  }
}
