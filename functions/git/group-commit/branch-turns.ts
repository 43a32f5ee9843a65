import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Release } from '../../domain/network/budget.ts'
import { branchKey, type BranchTarget } from './expected-changes.ts'

/** How long a login keeps others from the branch. Not longer: their server may be slow with it alone. */
const LONGEST_TURN_MS = 2_000
/** How long a login waits, however many are before it. */
const LONGEST_WAIT_MS = 10_000
/** Most logins and branches of a namespace that are remembered; beyond that the least recently used one is forgotten. */
const REMEMBERED = 500
/** The same of namespaces. */
const NAMESPACES = 1_000

/** Who writes to a branch. */
export interface BranchWriter {
  /** An identity. */
  readonly login: string
  /** Those of its changes: what another one makes a pod remember makes it forget nothing of theirs. */
  readonly namespaces: Iterable<string>
}

/** Turns of the logins that write to one branch. */
export interface BranchTurns {
  /** Waits for the turn of this login; the result is called when its push has ended. */
  readonly take: (target: BranchTarget, writer: BranchWriter) => Promise<Release>
  /** This login has moved the branch, for one of these namespaces. */
  readonly landed: (target: BranchTarget, writer: BranchWriter) => void
}

/**
 * Takes turns: of several logins that write to one branch, one pushes at a time, so that they do not take each other's
 * tip. Each waits until the one before has ended, or has had its turn for two seconds; and ten seconds at most. A login that
 * has moved the branch waits for none that never has: anybody can name a branch.
 */
export function openBranchTurns(): BranchTurns {
  const known = new LRUCache<string, Set<string>>({ max: NAMESPACES })
  const [last, lastKnown] = [makeLine(), makeLine()]

  return {
    async take(target, { login, namespaces }) {
      const key = branchKey(target)
      const name = nameOf(key, login)
      const isKnown = [...namespaces].some((namespace) => known.get(namespace)?.has(name) === true)
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
    landed(target, { login, namespaces }) {
      const name = nameOf(branchKey(target), login)
      for (const namespace of namespaces) known.set(namespace, withLatest(known.get(namespace), name))
    },
  }
}

/** Short: an address may have 2,048 characters. */
function nameOf(key: string, login: string): string {
  return createHash('sha256').update(`${login} ${key}`).digest('base64')
}

/** The last one was used last. */
function withLatest(names: Set<string> | undefined, name: string): Set<string> {
  const [oldest] = names ?? []
  if (names?.delete(name) === false && names.size >= REMEMBERED) names.delete(oldest ?? '')
  return (names ?? new Set()).add(name)
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
