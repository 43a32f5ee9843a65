import type { Release } from '../../domain/network/budget.ts'
import { branchKey, type BranchTarget } from './expected-changes.ts'

/**
 * How long a push waits for those of other logins to the same branch. Not longer: their server may be slow with them
 * alone.
 */
const LONGEST_WAIT_MS = 1_000

/**
 * Takes turns: of several logins that write to one branch, one pushes at a time, so that they do not take each other's
 * tip. Nobody waits longer than a second.
 */
export function takeBranchTurns(): (target: BranchTarget) => Promise<Release> {
  const last = new Map<string, Promise<undefined>>()

  return async function takeTurn(target) {
    const key = branchKey(target)
    const before = last.get(key)
    const { promise: ended, resolve } = Promise.withResolvers<undefined>()
    last.set(key, ended)
    if (before !== undefined) await atMost(LONGEST_WAIT_MS, before)
    return () => {
      resolve(undefined)
      if (last.get(key) === ended) last.delete(key)
    }
  }
}

async function atMost(milliseconds: number, ended: Promise<undefined>): Promise<void> {
  const { promise: over, resolve } = Promise.withResolvers<undefined>()
  const timer = setTimeout(() => resolve(undefined), milliseconds)
  await Promise.race([ended, over])
  clearTimeout(timer)
}
