import { openFairCache } from '../../domain/sharing/fair-cache.ts'

/** Namespaces that push to a branch by themselves, because they have kept others from their push. */
export interface KeptApart {
  /** `key`: of the branch and login. */
  readonly has: (namespace: string, key: string) => boolean
  /** For ten minutes, or so many milliseconds. */
  readonly keep: (namespace: string, key: string, milliseconds?: number) => void
}

/** How long a namespace that has kept others from their push does so by itself. */
const APART_MS = 10 * 60_000
/** Most of them that are remembered, each for a branch; beyond that, the namespace with the most branches loses one. */
const MOST_APART = 1_000

/** Remembers them for ten minutes. `now` is in milliseconds of a clock that is never set. */
export function rememberApart(now: () => number = () => performance.now()): KeptApart {
  const until = openFairCache<number>(MOST_APART)
  const keyOf = (namespace: string, key: string): string => `${key} ${namespace}`
  const endOf = (namespace: string, key: string): number => until.get(namespace, keyOf(namespace, key)) ?? 0
  return {
    has: (namespace, key) => endOf(namespace, key) > now(),
    keep(namespace, key, milliseconds = APART_MS) {
      const end = Math.max(endOf(namespace, key), now() + milliseconds)
      until.set(namespace, keyOf(namespace, key), end)
    },
  }
}
