import type { Release } from '../../domain/network/budget.ts'
import { branchKey, type BranchTarget } from './expected-changes.ts'

/** How long a login keeps others from the branch. Not longer: their server may be slow with it alone. */
const LONGEST_TURN_MS = 2_000
/** How long a login waits, however many are before it. */
const LONGEST_WAIT_MS = 10_000

/**
 * Takes turns: of several logins that write to one branch, one pushes at a time, so that they do not take each other's
 * tip. Each waits until the one before has ended, or has had its turn for two seconds; and ten seconds at most.
 */
export function takeBranchTurns(): (target: BranchTarget) => Promise<Release> {
  const last = new Map<string, Promise<undefined>>()

  return async function takeTurn(target) {
    const key = branchKey(target)
    const before = last.get(key)
    const { promise: over, resolve } = Promise.withResolvers<undefined>()
    last.set(key, over)
    if (before !== undefined) await atMost(LONGEST_WAIT_MS, before)
    const timer = setTimeout(() => resolve(undefined), LONGEST_TURN_MS)
    return () => {
      clearTimeout(timer)
      resolve(undefined)
      if (last.get(key) === over) last.delete(key)
    }
  }
}

async function atMost(milliseconds: number, ended: Promise<undefined>): Promise<void> {
  const { promise: over, resolve } = Promise.withResolvers<undefined>()
  const timer = setTimeout(() => resolve(undefined), milliseconds)
  await Promise.race([ended, over])
  clearTimeout(timer)
}
