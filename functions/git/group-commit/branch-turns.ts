import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Release } from '../../domain/network/budget.ts'
import { openFairQueue, type FairQueue } from '../../domain/sharing/fair-queue.ts'
import { countExcess, FEW } from '../../domain/sharing/taken-time.ts'
import { branchKey, type BranchTarget } from './expected-changes.ts'

/** How long a login keeps others from the branch. Not longer: their server may be slow with it alone. */
const LONGEST_TURN_MS = 2_000
/** How long a login waits, however many are before it: ten namespaces that use all of each turn would take twenty seconds. */
const LONGEST_WAIT_MS = 4_000
/** The same of one that has never moved the branch: those before it may be anybody, and whoever may not push takes no tip. */
const STRANGERS_WAIT_MS = 2_000
/** Most logins and branches of a namespace that are remembered; beyond that the least recently used one is forgotten. */
const REMEMBERED = 500
/** The same of namespaces. */
const NAMESPACES = 1_000

const NEVER = new AbortController().signal

/** Who writes to a branch. */
export interface BranchWriter {
  /** An identity. */
  readonly login: string
  /** Those of its changes: what another one makes a pod remember makes it forget nothing of theirs. */
  readonly namespaces: Iterable<string>
}

/** Turns of the logins that write to one branch. */
export interface BranchTurns {
  /**
   * Waits for the turn of this login; the result is called when its push has ended, or before if it is not about to begin. Rejects
   * if the signal, by which it leaves the line, fires before.
   */
  readonly take: (target: BranchTarget, writer: BranchWriter, signal?: AbortSignal) => Promise<Release>
  /** This login has moved the branch, for one of these namespaces. */
  readonly landed: (target: BranchTarget, writer: BranchWriter) => void
}

/** Those who have moved a branch, and those who never have. */
interface Lines {
  readonly known: FairQueue
  readonly strangers: FairQueue
  /** Known ones that wait or have their turn. */
  readonly ahead: Set<Promise<undefined>>
  /** Logins that use these lines. */
  users: number
}

/**
 * Takes turns: of several logins that write to one branch, one pushes at a time, so that they do not take each other's
 * tip. A turn is over when its push has ended, or after two seconds; nobody waits for more than four. Next is a login of the
 * namespace that has taken the least, however many logins another one has. Anybody can name a branch: one that has moved it waits
 * for none that never has, and one that never has for two seconds at most. `elapsed`: milliseconds of a clock that is never set.
 */
export function openBranchTurns(elapsed = () => performance.now()): BranchTurns {
  const known = new LRUCache<string, Set<string>>({ max: NAMESPACES })
  const branches = new Map<string, Lines>()

  function isKnown(key: string, { login, namespaces }: BranchWriter): boolean {
    const name = nameOf(key, login)
    return [...namespaces].some((namespace) => known.get(namespace)?.has(name) === true)
  }

  return {
    async take(target, writer, signal = NEVER) {
      const key = branchKey(target)
      const lines = branches.get(key) ?? makeLines(elapsed)
      branches.set(key, lines)
      lines.users += 1
      function leave(): void {
        lines.users -= 1
        if (lines.users === 0) branches.delete(key)
      }
      const takeIn = isKnown(key, writer) ? takeKnown : takeStranger
      try {
        const end = await takeIn(lines, writer, signal)
        let isOver = false
        return () => {
          if (isOver) return
          isOver = true
          end()
          leave()
        }
      } catch (error) {
        leave()
        throw error
      }
    },
    landed(target, { login, namespaces }) {
      const name = nameOf(branchKey(target), login)
      for (const namespace of namespaces) known.set(namespace, withLatest(known.get(namespace), name))
    },
  }
}

function makeLines(elapsed: () => number): Lines {
  const terms = { elapsed, taken: countExcess(FEW, elapsed) }
  const [known, strangers] = [openFairQueue(1, terms), openFairQueue(1, terms)]
  return { known, strangers, ahead: new Set(), users: 0 }
}

/** Its turn in the line of those who have moved the branch. */
async function takeKnown(
  { known, ahead }: Lines,
  writer: BranchWriter,
  leaving: AbortSignal,
): Promise<Release> {
  const { promise: over, resolve } = Promise.withResolvers<undefined>()
  ahead.add(over)
  function leave(): void {
    ahead.delete(over)
    resolve(undefined)
  }
  try {
    const enter = (signal: AbortSignal): Promise<Release> => known.enter(ownerOf(writer), signal)
    const release = await waitFor(enter, LONGEST_WAIT_MS, leaving)
    return turn(() => {
      release?.()
      leave()
    })
  } catch (error) {
    leave()
    throw error
  }
}

/** Its turn once those who are known and were there before have had theirs. */
async function takeStranger(
  { strangers, ahead }: Lines,
  writer: BranchWriter,
  leaving: AbortSignal,
): Promise<Release> {
  const before = [...ahead]
  async function enter(signal: AbortSignal): Promise<Release> {
    const entered = await strangers.enter(ownerOf(writer), signal)
    await Promise.race([Promise.all(before), ended(signal)])
    return entered
  }
  const release = await waitFor(enter, STRANGERS_WAIT_MS, leaving)
  return turn(() => release?.())
}

/** Who takes a turn for several namespaces takes one for each, until the first of them has it (first-session.ts). */
function ownerOf({ namespaces, login }: BranchWriter): string {
  const [first = login] = namespaces
  return first
}

/** Undefined: it has waited for long enough. */
async function waitFor(
  enter: (signal: AbortSignal) => Promise<Release>,
  mostMs: number,
  leaving: AbortSignal,
): Promise<Release | undefined> {
  const over = new AbortController()
  const timer = setTimeout(() => over.abort(), mostMs)
  try {
    return await enter(AbortSignal.any([over.signal, leaving]))
  } catch (error) {
    if (over.signal.aborted && !leaving.aborted) return undefined
    throw error
  } finally {
    clearTimeout(timer)
  }
}

function ended(signal: AbortSignal): Promise<undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  signal.addEventListener('abort', () => resolve(undefined), { once: true })
  return promise
}

/** It ends after two seconds at the latest. */
function turn(end: () => void): Release {
  const timer = setTimeout(end, LONGEST_TURN_MS)
  return () => {
    clearTimeout(timer)
    end()
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
