/** Values by key. Each counts to the owner that has used it last. */
export interface FairCache<V> {
  readonly get: (owner: string, key: string) => V | undefined
  readonly set: (owner: string, key: string, value: V) => void
  /** Forgets the value, if that is still the one of the key. */
  readonly forget: (key: string, value: V) => void
}

/**
 * Keeps `most` values: beyond that, the owner that has the most of them loses the one that it used least recently. So an
 * owner loses none for another one that has more.
 */
export function openFairCache<V>(most: number): FairCache<V> {
  const ownerOf = new Map<string, string>()
  /** In the order of their last use. */
  const kept = new Map<string, Map<string, V>>()

  function remove(key: string): V | undefined {
    const owner = ownerOf.get(key) ?? ''
    const own = kept.get(owner)
    const value = own?.get(key)
    own?.delete(key)
    if (own?.size === 0) kept.delete(owner)
    ownerOf.delete(key)
    return value
  }

  function add(owner: string, key: string, value: V): void {
    const own = kept.get(owner) ?? new Map<string, V>()
    kept.set(owner, own.set(key, value))
    ownerOf.set(key, owner)
    if (ownerOf.size <= most) return
    const largest = [...kept.values()].reduce((one, other) => (other.size > one.size ? other : one))
    const [oldest] = largest.keys()
    if (oldest !== undefined) remove(oldest)
  }

  return {
    get(owner, key) {
      const value = remove(key)
      if (value !== undefined) add(owner, key, value)
      return value
    },
    set(owner, key, value) {
      remove(key)
      add(owner, key, value)
    },
    forget(key, value) {
      if (kept.get(ownerOf.get(key) ?? '')?.get(key) === value) remove(key)
    },
  }
}
