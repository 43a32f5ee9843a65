import { unlessAborted } from '../../domain/deadline.ts'
import type { Release } from '../../domain/network/budget.ts'
import { openFairQueue } from '../../domain/sharing/fair-queue.ts'
import { countInProportion } from '../../domain/sharing/taken-time.ts'
import { branchKey, type BranchTarget } from './queue/branch-place.ts'
import { rememberWriters, type KnownWriter } from './known-writers.ts'
import { enterPatiently, type TurnPatience } from '../turn-patience.ts'

/** How long a login keeps others from the branch. Not longer: their server may be slow with it alone. */
const LONGEST_TURN_MS = 2_000
/**
 * And one whose push several namespaces share, which may be divided, or slow because of one of them: they would wait for each push that
 * has lost a race to the quick ones of another login.
 */
const LONGEST_SHARED_TURN_MS = 10_000
/**
 * And one that may be the slow one: there may be ten of them. One that is known to take less than a turn has all of it: others would take
 * its tip again and again. One that is known to take longer keeps nobody waiting: they take its tip in any case.
 */
const SUSPECTS_TURN_MS = 500
/** How long a login waits, however many are before it: ten namespaces that use all of each turn would take twenty seconds. */
const LONGEST_WAIT_MS = 4_000
/** The same of one that has never moved the branch: those before it may be anybody, and whoever may not push takes no tip. */
const STRANGERS_WAIT_MS = 2_000
/** The same of a push that is likely to take more than LARGE_MS: where several go on at once, they take each other's tip. */
const LARGE_WAIT_MS = 10_000
const LARGE_MS = 100
/** A push may take longer than is usual for its size, because others take its tip: of that, little counts as taken. */
const USUAL = 4
const COUNTED = 1 / 4
const NEVER = new AbortController().signal

/** Milliseconds, or that it may be the slow one, of which nothing is known. */
export type Slow = number | 'unknown'

/** Who writes to a branch. */
export interface BranchWriter extends KnownWriter {
  /** How long its next push is likely to take, by its size, in milliseconds; default: no time. */
  readonly likelyMs?: number | undefined
  /** How long the host is likely to look at it besides: others go first, and it waits for longer; default: no time. */
  readonly slowMs?: Slow | undefined
  /** Whether several namespaces share its push. */
  readonly isShared?: boolean | undefined
}

/** The turn of a login. */
export interface BranchTurn {
  /** Called when its push has ended, or before if it is not about to begin. */
  readonly release: Release
  /** Whether another one may have its turn by now. */
  readonly isOver: () => boolean
}

/** Turns of the logins that write to one branch. */
export interface BranchTurns {
  /** Waits for the turn of this login. Rejects if the signal, by which it leaves the line, fires before. */
  readonly take: (target: BranchTarget, writer: BranchWriter, signal?: AbortSignal) => Promise<BranchTurn>
  /** This login has moved the branch, for one of these namespaces. */
  readonly landed: (target: BranchTarget, writer: BranchWriter) => void
}

/** Who waits for a branch. */
interface Line {
  readonly enter: (writer: BranchWriter, signal: AbortSignal) => Promise<Release>
}

/** Those who have moved a branch, and those who never have. */
interface Lines {
  readonly known: Line
  readonly strangers: Line
  /** Known ones that wait or have their turn. */
  readonly ahead: Set<Promise<undefined>>
  /** When each namespace was last let through, by the clock. */
  readonly passed: Map<string, number>
  /** Logins that use these lines. */
  users: number
}

/**
 * Takes turns: of several logins that write to one branch, one pushes at a time, so that they do not take each other's
 * tip. A turn is over when its push has ended, or after two seconds, or ten if namespaces share it; nobody waits for other namespaces
 * for more than four, or ten with a large push.
 * Namespaces that wait get equal parts of the time, however many logins each has, so that one with short pushes waits for about one of
 * another. Anybody can name a branch: one that has moved it waits for none that never has, and one that never has for two seconds at
 * most. `elapsed`: milliseconds of a clock that is never set.
 */
export function openBranchTurns(elapsed = () => performance.now()): BranchTurns {
  const writers = rememberWriters()
  const branches = new Map<string, Lines>()

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
      const isKnown = writers.has(key, writer)
      const takeIn = isKnown ? takeKnown : takeStranger
      const mostMs = longestWaitOf(writer, isKnown ? LONGEST_WAIT_MS : STRANGERS_WAIT_MS)
      const owner = ownerOf(writer)
      const pass = (): void => void lines.passed.set(owner, elapsed())
      const passedAt = (): number => lines.passed.get(owner) ?? -Infinity
      const patience = { mostMs, passedAt, pass, elapsed, leaving: signal }
      try {
        const { release: end, isOver } = await takeIn(lines, writer, patience)
        pass()
        let hasEnded = false
        function release(): void {
          if (hasEnded) return
          hasEnded = true
          end()
          leave()
        }
        return { release, isOver: () => hasEnded || isOver() }
      } catch (error) {
        leave()
        throw error
      }
    },
    landed: (target, writer) => writers.add(branchKey(target), writer),
  }
}

function makeLines(elapsed: () => number): Lines {
  const [known, strangers] = [lineOf(elapsed), lineOf(elapsed)]
  return { known, strangers, ahead: new Set(), passed: new Map(), users: 0 }
}

function lineOf(elapsed: () => number): Line {
  const queue = openFairQueue(1, { elapsed, taken: countInProportion(LONGEST_TURN_MS) })
  return {
    async enter(writer, signal) {
      const { likelyMs = 0, slowMs = 0 } = writer
      const heldMs = slowMs === 'unknown' ? SUSPECTS_TURN_MS : slowMs
      const leave = await queue.enter(ownerOf(writer), signal, 'last', likelyMs + COUNTED * heldMs)
      const began = elapsed()
      return () => leave(Math.max(USUAL * likelyMs, COUNTED * (elapsed() - began)))
    },
  }
}

/** Its turn in the line of those who have moved the branch. */
async function takeKnown(lines: Lines, writer: BranchWriter, patience: TurnPatience): Promise<BranchTurn> {
  const { known, ahead } = lines
  const { promise: over, resolve } = Promise.withResolvers<undefined>()
  ahead.add(over)
  function leave(): void {
    ahead.delete(over)
    resolve(undefined)
  }
  try {
    const enter = (signal: AbortSignal): Promise<Release> => known.enter(writer, signal)
    const release = await enterPatiently(enter, patience)
    return turn(release, leave, longestTurnOf(writer))
  } catch (error) {
    leave()
    throw error
  }
}

/** Its turn once those who are known and were there before have had theirs. */
async function takeStranger(lines: Lines, writer: BranchWriter, patience: TurnPatience): Promise<BranchTurn> {
  const { strangers, ahead } = lines
  const before = [...ahead]
  async function enter(signal: AbortSignal): Promise<Release> {
    const entered = await strangers.enter(writer, signal)
    // One that leaves the line now has its turn already.
    await unlessAborted(Promise.all(before), signal).catch(() => undefined)
    return entered
  }
  const release = await enterPatiently(enter, patience)
  return turn(release, () => undefined, longestTurnOf(writer))
}

function longestWaitOf({ likelyMs = 0, slowMs = 0 }: BranchWriter, usual: number): number {
  return likelyMs + (slowMs === 'unknown' ? 0 : slowMs) > LARGE_MS ? LARGE_WAIT_MS : usual
}

function longestTurnOf({ isShared = false, slowMs = 0 }: BranchWriter): number {
  if (slowMs === 'unknown') return SUSPECTS_TURN_MS
  if (slowMs > LONGEST_TURN_MS) return 0
  return isShared ? LONGEST_SHARED_TURN_MS : LONGEST_TURN_MS
}

/** Who takes a turn for several namespaces takes one for each, until the first of them has it (first-session.ts). */
function ownerOf({ namespaces, login }: BranchWriter): string {
  const [first = login] = namespaces
  return first
}

/** It ends after `mostMs` at the latest. `leave`: the line, if it has waited for long enough and has no place. */
function turn(place: Release | undefined, leave: () => void, mostMs: number): BranchTurn {
  let isOver = place === undefined
  function end(): void {
    clearTimeout(timer)
    isOver = true
    place?.()
    leave()
  }
  const timer = setTimeout(end, mostMs)
  return { release: end, isOver: () => isOver }
}
