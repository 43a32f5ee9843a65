import { openLastingCache } from '../../domain/sharing/lasting-cache.ts'

/**
 * How the trees of a repository come. `all`: those of a commit in one answer, which takes one request. `needed`: by their names,
 * one level of directories after the other, where a commit has more than a session should hold. `all only`: the server sends none
 * by its name.
 */
export type TreeWay = 'all' | 'needed' | 'all only'

/** The way of one repository, as a login has seen it. */
export interface RememberedWay {
  get(): TreeWay
  set(way: TreeWay): void
}

/** Most repositories with a login each. */
const MOST = 2_000
/** A repository may become smaller, and a server be upgraded. */
const LIFETIME_MS = 10 * 60_000

/** Remembers the ways of 2,000 repositories for ten minutes; beyond that, the namespace that has the most loses its own. */
export function rememberWays(): (repository: string, identity: string, namespace: string) => RememberedWay {
  const ways = openLastingCache<TreeWay>(MOST, LIFETIME_MS)
  return function wayOf(repository, identity, namespace) {
    const key = JSON.stringify([repository, identity])
    return {
      get: () => ways.get(namespace, key) ?? 'all',
      set(way) {
        ways.set(namespace, key, way)
      },
    }
  }
}
