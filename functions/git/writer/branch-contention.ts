import { LRUCache } from 'lru-cache'

/**
 * What is known of other writers to a branch: other replicas, users and pipelines. Each login has a key of its own for a
 * branch, so that nobody waits for what the server says to another.
 */
export interface BranchContention {
  /** A batch has ended; `raced`: others have moved the branch meanwhile. */
  readonly ended: (key: string, raced: boolean) => void
  /** Whether others have moved the branch lately, so that a remembered tip is old and a push at once loses its race. */
  readonly isContended: (key: string) => boolean
  /** Milliseconds for which the next push gathers changes: 0 where nobody else writes. */
  readonly pauseFor: (key: string) => number
}

const MOST = 2_000
/** Whoever has not been met for this time has stopped writing. */
const LIFETIME_MS = 30_000
const FIRST_PAUSE_MS = 250
const HIGHEST_LEVEL = 4

/**
 * Writers to one branch that push again at once take it from the others for as long as they have something to write:
 * each push of theirs is short, and whoever lost a race needs longer. So where a race was lost, each push first gathers
 * changes for a random time, which doubles with each batch that has lost one, up to two seconds on average, and halves
 * with each that has not.
 */
export function watchContention(random: () => number = Math.random): BranchContention {
  const levels = new LRUCache<string, number>({ max: MOST, ttl: LIFETIME_MS })
  const levelOf = (key: string): number => levels.get(key) ?? 0

  return {
    ended(key, raced) {
      const level = levelOf(key) + (raced ? 1 : -1)
      if (level > 0) levels.set(key, Math.min(level, HIGHEST_LEVEL))
      else levels.delete(key)
    },
    isContended: (key) => levelOf(key) > 0,
    pauseFor(key) {
      const level = levelOf(key)
      return level === 0 ? 0 : FIRST_PAUSE_MS * 2 ** (level - 1) * (0.5 + random())
    },
  }
}
