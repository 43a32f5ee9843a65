import { openFairCache } from './fair-cache.ts'

/** Values by key, each for some time after it was set. */
export interface LastingCache<V> {
  readonly get: (owner: string, key: string) => V | undefined
  readonly set: (owner: string, key: string, value: V) => void
  readonly forget: (owner: string, key: string) => void
}

/** What a value is kept for. */
interface Lasting<V> {
  readonly value: V
  /** In milliseconds of the clock. */
  readonly until: number
}

/**
 * A fair cache of `most` values, each of which lasts for `lifetimeMs`. `now` is in milliseconds of a clock that is never set.
 */
export function openLastingCache<V>(
  most: number,
  lifetimeMs: number,
  now: () => number = () => performance.now(),
): LastingCache<V> {
  const all = openFairCache<Lasting<V>>(most)
  return {
    get(owner, key) {
      const found = all.get(owner, key)
      return found === undefined || found.until <= now() ? undefined : found.value
    },
    set: (owner, key, value) => all.set(owner, key, { value, until: now() + lifetimeMs }),
    forget(owner, key) {
      const found = all.get(owner, key)
      if (found !== undefined) all.forget(key, found)
    },
  }
}
