import { unlessAborted } from '../../domain/deadline.ts'
import type { Release } from '../../domain/network/budget.ts'
import {
  isSlow,
  LONGEST_TURN_MS,
  makeLines,
  ownerOf,
  SUSPECTS_TURN_MS,
  type BranchWriter,
  type Lines,
} from './branch-lines.ts'
import { rememberWriters } from './known-writers.ts'
import { branchKey, type BranchTarget } from './queue/branch-place.ts'
import { enterPatiently, type TurnPatience } from '../turn-patience.ts'

/**
 * How long a login whose push several namespaces share keeps others from the branch. The push may be divided, or slow because of one of
 * them: with less, they would wait for each push that has lost a race to the quick ones of another login.
 */
const LONGEST_SHARED_TURN_MS = 10_000
/** How long a login waits, however many are before it: ten namespaces that use all of each turn would take twenty seconds. */
const LONGEST_WAIT_MS = 4_000
/** The same of one that has never moved the branch: those before it may be anybody, and whoever may not push takes no tip. */
const STRANGERS_WAIT_MS = 2_000
/** The same of a push that is likely to take more than LARGE_MS: where several go on at once, they take each other's tip. */
const LARGE_WAIT_MS = 10_000
const LARGE_MS = 100
const NEVER = new AbortController().signal

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

/**
 * Takes turns: of several logins that write to one branch, one pushes at a time, so that they do not take each other's
 * tip. A turn is over when its push has ended, or after two seconds, or ten if namespaces share it; nobody waits for other namespaces
 * for more than four, or ten with a large push. Pushes at which the host looks for longer keep nobody else waiting, and are made one
 * after the other as well, for four seconds each.
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

/** Its turn in the line of those who have moved the branch. */
async function takeKnown(lines: Lines, writer: BranchWriter, patience: TurnPatience): Promise<BranchTurn> {
  const { known, ahead } = lines
  const { promise: over, resolve } = Promise.withResolvers<undefined>()
  if (!isSlow(writer)) ahead.add(over)
  function leave(): void {
    ahead.delete(over)
    resolve(undefined)
  }
  try {
    const enter = (signal: AbortSignal): Promise<Release> => known(writer, signal)
    const release = await enterPatiently(enter, patience)
    return turn(release, leave, writer)
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
    const entered = await strangers(writer, signal)
    // One that leaves the line now has its turn already.
    await unlessAborted(Promise.all(before), signal).catch(() => undefined)
    return entered
  }
  const release = await enterPatiently(enter, patience)
  return turn(release, () => undefined, writer)
}

function longestWaitOf({ likelyMs = 0, slowMs = 0 }: BranchWriter, usual: number): number {
  return likelyMs + (slowMs === 'unknown' ? 0 : slowMs) > LARGE_MS ? LARGE_WAIT_MS : usual
}

function longestTurnOf({ isShared = false, slowMs = 0 }: BranchWriter): number {
  if (slowMs === 'unknown') return SUSPECTS_TURN_MS
  return isShared ? LONGEST_SHARED_TURN_MS : LONGEST_TURN_MS
}

/**
 * It ends after a while at the latest; one that is slow has none but among its like. `leave`: the line, if it has waited for long enough
 * and has no place.
 */
function turn(place: Release | undefined, leave: () => void, writer: BranchWriter): BranchTurn {
  let isOver = place === undefined || isSlow(writer)
  function end(): void {
    clearTimeout(timer)
    isOver = true
    place?.()
    leave()
  }
  const timer = isSlow(writer) ? undefined : setTimeout(end, longestTurnOf(writer))
  return { release: end, isOver: () => isOver }
}
