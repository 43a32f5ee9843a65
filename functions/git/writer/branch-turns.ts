import { LRUCache } from 'lru-cache'
import type { Release } from '../../domain/network/budget.ts'
import { branchKey, type BranchTarget } from './expected-changes.ts'

/** How long a login keeps others from the branch. Not longer: their server may be slow with it alone. */
const LONGEST_TURN_MS = 2_000
/** How long a login waits, however many are before it. */
const LONGEST_WAIT_MS = 10_000
/** Most logins and branches that are remembered; beyond that the least recently used one is forgotten. */
const REMEMBERED = 10_000

/** Turns of the logins that write to one branch; `login` is an identity. */
export interface BranchTurns {
  /** Waits for the turn of this login; the result is called when its push has ended. */
  readonly take: (target: BranchTarget, login: string) => Promise<Release>
  /** This login has moved the branch. */
  readonly landed: (target: BranchTarget, login: string) => void
}

/**
 * Takes turns: of several logins that write to one branch, one pushes at a time, so that they do not take each other's
 * tip. Each waits until the one before has ended, or has had its turn for two seconds; and ten seconds at most. A login that
 * has moved the branch waits for none that never has: anybody can name a branch.
 */
export function openBranchTurns(): BranchTurns {
  const known = new LRUCache<string, true>({ max: REMEMBERED })
  const [last, lastKnown] = [makeLine(), makeLine()]

  return {
    async take(target, login) {
      const key = branchKey(target)
      const isKnown = known.has(nameOf(key, login))
      const before = isKnown ? lastKnown.end(key) : last.end(key)
      const { promise: over, resolve } = Promise.withResolvers<undefined>()
      last.join(key, over)
      if (isKnown) lastKnown.join(key, over)
      if (before !== undefined) await atMost(LONGEST_WAIT_MS, before)
      const timer = setTimeout(() => resolve(undefined), LONGEST_TURN_MS)
      return () => {
        clearTimeout(timer)
        resolve(undefined)
      }
    },
    landed: (target, login) => void known.set(nameOf(branchKey(target), login), true),
  }
}

function nameOf(key: string, login: string): string {
  return `${login} ${key}`
}

/** Those who wait for a branch, in the order in which they came. */
interface Line {
  /** Ends with the turns of all of them; undefined: nobody waits. */
  readonly end: (key: string) => Promise<void> | undefined
  /** Joins it until this ends. */
  readonly join: (key: string, over: Promise<undefined>) => void
}

function makeLine(): Line {
  const ends = new Map<string, Promise<void>>()
  return {
    end: (key) => ends.get(key),
    join(key, over) {
      const end = Promise.all([ends.get(key), over]).then(() => {
        if (ends.get(key) === end) ends.delete(key)
      })
      ends.set(key, end)
    },
  }
}

async function atMost(milliseconds: number, ended: Promise<void>): Promise<void> {
  const { promise: over, resolve } = Promise.withResolvers<undefined>()
  const timer = setTimeout(() => resolve(undefined), milliseconds)
  await Promise.race([ended, over])
  clearTimeout(timer)
}
