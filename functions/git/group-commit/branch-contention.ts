import { LRUCache } from 'lru-cache'
import type { RoundReport } from '../writer/round.ts'

/**
 * What is known of other writers to a branch: other replicas, users and pipelines. Each login has keys of its own for a
 * branch, so that nobody waits for what the server says to another.
 */
export interface BranchContention {
  /** A round of the batch has ended. `login`: the same for all keys of the login; what one of them writes, no other writer has. */
  readonly roundEnded: (key: string, round: Omit<RoundReport, 'namespaces'>, login?: string) => void
  /** The batch has ended. */
  readonly batchEnded: (key: string) => void
  /** Whether others have moved the branch lately, so that a remembered tip is old and a push at once loses its race. */
  readonly isContended: (key: string) => boolean
  /** Milliseconds for which the next push gathers changes: 0 where nobody else writes. */
  readonly pauseFor: (key: string) => number
}

interface Entry {
  /** When others were found to have moved it, and when our last batch has ended. */
  readonly movedAt: number
  readonly endedAt: number
  /** How long the last round took that read the tip. */
  readonly roundMs: number
  /** Races that the batch has lost. */
  readonly races: number
  readonly level: number
}

const MOST = 2_000
/** Whoever has not been met for this time has stopped writing. */
const LIFETIME_MS = 30_000
const HIGHEST_LEVEL = 5
const LONGEST_PAUSE_MS = 4_000
/** Two rounds: who has lost a race needs one for the next push, and waits for half of one before on average. */
const PAUSE_ROUNDS = 2
const NEW: Entry = {
  movedAt: -Infinity,
  endedAt: -Infinity,
  roundMs: 0,
  races: 0,
  level: 0,
}

/**
 * Writers to one branch that push again at once take it from the others for as long as they have something to write:
 * each push of theirs is short, and whoever lost a race needs longer. So where others write, who has pushed first lets
 * them: the next push gathers changes for the random time of one to three rounds, counted from the end of the last
 * batch. That doubles with each batch that has lost several races, and halves with each that has lost none. Whether
 * others write is seen by the branch itself: it is not where we have left it.
 */
export function watchContention(
  random: () => number = Math.random,
  now: () => number = () => performance.now(),
): BranchContention {
  const entries = new LRUCache<string, Entry>({ max: MOST })
  /** Where the branch was when it was last seen, by login. */
  const tips = new LRUCache<string, string>({ max: MOST })
  const entryOf = (key: string): Entry => entries.get(key) ?? NEW
  const isContended = (key: string): boolean => now() - entryOf(key).movedAt < LIFETIME_MS

  return {
    roundEnded(key, { tip, head, raced, milliseconds }, login = key) {
      const before = entryOf(key)
      const seen = tips.get(login)
      const isMoved = raced || (tip !== undefined && seen !== undefined && tip !== seen)
      const isRead = tip !== undefined
      tips.set(login, head ?? tip ?? seen)
      entries.set(key, {
        ...before,
        movedAt: isMoved ? now() : before.movedAt,
        roundMs: isRead ? milliseconds : before.roundMs,
        races: before.races + (raced && isRead ? 1 : 0),
      })
    },
    batchEnded(key) {
      const before = entryOf(key)
      const step = before.races === 0 ? -1 : before.races === 1 ? 0 : 1
      const level = Math.min(HIGHEST_LEVEL, Math.max(isContended(key) ? 1 : 0, before.level + step))
      entries.set(key, { ...before, level, races: 0, endedAt: now() })
    },
    isContended,
    pauseFor(key) {
      const { level, roundMs, endedAt } = entryOf(key)
      if (level === 0 || !isContended(key)) return 0
      const longest = Math.min(LONGEST_PAUSE_MS, PAUSE_ROUNDS * roundMs * 2 ** (level - 1))
      return Math.max(0, endedAt + longest * (0.5 + random()) - now())
    },
  }
}
