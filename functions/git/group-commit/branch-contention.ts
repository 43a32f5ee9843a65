import { LRUCache } from 'lru-cache'
import type { RoundReport } from '../writer/round.ts'

/**
 * What is known of other writers to a branch: other replicas, users and pipelines. Each login has keys of its own for a
 * branch, so that nobody waits for what the server says to another.
 */
export interface BranchContention {
  /** A round of the batch has ended. */
  readonly roundEnded: (key: string, round: SeenRound, of?: Partial<RoundOf>) => void
  /** The batch has ended. */
  readonly batchEnded: (key: string) => void
  /** Whether others have moved the branch lately, so that a remembered tip is old and a push at once loses its race. */
  readonly isContended: (key: string) => boolean
  /**
   * Milliseconds for which the next push gathers changes: 0 where nobody but this pod writes. `isShared`: among those who wait for it
   * may be others than whoever has made the last one long.
   */
  readonly pauseFor: (key: string, isShared: boolean) => number
}

/** What counts of a round. */
export type SeenRound = Pick<RoundReport, 'tip' | 'head' | 'raced' | 'milliseconds'>

/** Whose round it was; default: its key. */
export interface RoundOf {
  /** The same for all keys of the login: what one of them writes, no other writer has. */
  readonly login: string
  /** The same for all logins that write to the branch: they have turns (branch-turns.ts), and none pauses for another one. */
  readonly branch: string
}

interface Entry {
  /** When it was found to have been moved by others, or by those of other pods and users, and when our last batch has ended. */
  readonly movedAt: number
  readonly movedOutsideAt: number
  readonly endedAt: number
  /** The last push was late, by an old memory or after it had asked, and it is not known yet who has moved the branch. */
  readonly late: 'by memory' | 'after asking' | undefined
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
/** The same for a push that namespaces share: a hook may have looked at a commit of one of them for as long as it liked. */
const LONGEST_SHARED_PAUSE_MS = 500
/** Two rounds: who has lost a race needs one for the next push, and waits for half of one before on average. */
const PAUSE_ROUNDS = 2
const NEW: Entry = {
  movedAt: -Infinity,
  movedOutsideAt: -Infinity,
  late: undefined,
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
 * others write is seen by the branch itself: it is not where this pod has left it.
 */
export function watchContention(
  random: () => number = Math.random,
  now: () => number = () => performance.now(),
): BranchContention {
  const entries = new LRUCache<string, Entry>({ max: MOST })
  /** Where the branch was when it was last seen, by login. */
  const tips = new LRUCache<string, string>({ max: MOST })
  /** What this pod has pushed, with any login. */
  const heads = new LRUCache<string, true>({ max: MOST })
  const entryOf = (key: string): Entry => entries.get(key) ?? NEW
  const isRecent = (at: number): boolean => now() - at < LIFETIME_MS
  const isContended = (key: string): boolean => isRecent(entryOf(key).movedAt)

  return {
    roundEnded(key, { tip, head, raced, milliseconds }, { login = key, branch = key } = {}) {
      const before = entryOf(key)
      const seen = tips.get(login)
      const isRead = tip !== undefined
      const isMoved = isRead && seen !== undefined && tip !== seen
      const isOutside = isRead && (isMoved || before.late !== undefined) && !heads.has(`${branch} ${tip}`)
      tips.set(login, head ?? tip ?? seen)
      if (head !== undefined) heads.set(`${branch} ${head}`, true)
      entries.set(key, {
        ...before,
        movedAt: raced || isMoved ? now() : before.movedAt,
        movedOutsideAt: isOutside ? now() : before.movedOutsideAt,
        late: raced ? (isRead ? 'after asking' : 'by memory') : undefined,
        roundMs: isRead ? milliseconds : before.roundMs,
        races: before.races + (isOutside && before.late === 'after asking' ? 1 : 0),
      })
    },
    batchEnded(key) {
      const before = entryOf(key)
      const step = before.races === 0 ? -1 : before.races === 1 ? 0 : 1
      const least = isRecent(before.movedOutsideAt) ? 1 : 0
      const level = Math.min(HIGHEST_LEVEL, Math.max(least, before.level + step))
      entries.set(key, { ...before, level, races: 0, endedAt: now() })
    },
    isContended,
    pauseFor(key, isShared) {
      const { level, roundMs, endedAt, movedOutsideAt } = entryOf(key)
      if (level === 0 || !isRecent(movedOutsideAt)) return 0
      const longest = Math.min(LONGEST_PAUSE_MS, PAUSE_ROUNDS * roundMs * 2 ** (level - 1))
      const pause = longest * (0.5 + random())
      return Math.max(0, endedAt + (isShared ? Math.min(LONGEST_SHARED_PAUSE_MS, pause) : pause) - now())
    },
  }
}
