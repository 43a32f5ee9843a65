import type { ListedResource } from '../cluster.ts'
import { FOLLOWERS } from '../list.ts'
import { watchRows, type WatchParts } from './watch.ts'

/** The resources that follow their sources, as a watch of them tells it. */
export interface Followers {
  /** Watches them from now on, until `signal` fires; nothing if they are watched already. */
  readonly begin: (signal: AbortSignal) => void
  /** Whether all of them are known, or about to be. */
  readonly isFollowed: () => boolean
  readonly rows: () => Iterable<ListedResource>
}

/** Some 30 MB; with more, lists are the better way. */
const MOST = 100_000

/**
 * Watches the followers alone, so that those whose interval is over are known without a list. Of each, its name, interval and
 * last result are kept.
 */
export function watchFollowers(parts: WatchParts): Followers {
  const known = new Map<string, ListedResource>()
  let following: AbortController | undefined
  let hasWarned = false

  function isFollowed(): boolean {
    return following !== undefined && !following.signal.aborted
  }

  function keep(row: ListedResource, isDeleted: boolean): void {
    const key = `${row.ref.namespace}/${row.ref.name}`
    if (isDeleted) known.delete(key)
    else known.set(key, { ...row, requestedAt: undefined, lastHandledRequestedAt: undefined })
  }

  function forbidden(): void {
    if (!hasWarned) parts.log.warn('no right to watch: each sweep lists all followers')
    hasWarned = true
  }

  return {
    begin(signal) {
      if (isFollowed()) return
      known.clear()
      const current = new AbortController()
      following = current
      signal.addEventListener('abort', () => current.abort(), { once: true, signal: current.signal })
      if (signal.aborted) current.abort()
      // Without a version a watch begins with all that there are.
      const watched = { kind: 'GitCommit', version: '', fieldSelector: FOLLOWERS } as const
      void watchRows(parts, { ...watched, keep, forbidden, isFull: () => known.size > MOST }, current)
    },
    isFollowed,
    rows: () => known.values(),
  }
}
