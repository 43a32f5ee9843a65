import { openFairQueue } from '../../domain/sharing/fair-queue.ts'
import { countWithCredit, type Credit } from '../../domain/sharing/taken-time.ts'
import type { Rank } from '../../domain/sharing/waiting-line.ts'
import { watchProcessorWait, type ProcessorWait } from './processor-wait.ts'

/**
 * Waits until another git of the namespace may begin; the result is to be called when it has ended. Rejects with the signal's
 * reason if it fires before.
 */
export type BeginGit = (namespace: string, signal: AbortSignal, rank?: Rank) => Promise<() => void>

/** What the pace is measured by. */
export interface PaceTerms {
  /** Milliseconds of a clock that is never set. */
  readonly elapsed?: () => number
  readonly wait?: ProcessorWait
}

/** Gits that are young at the same time, and one more of a namespace that has none while another one has both. */
const AT_ONCE = 2
const LOOK_MS = 50
/** Milliseconds for which a git is young while the thread waits for a processor: one that goes on mostly waits for its server. */
const YOUNG_MS = 500
/** Of those, what counts as taken by its namespace. */
const MOST_MS = 100
/** The credit is that of a usual commit, which takes some eight gits. */
const GITS: Credit = { same: 50, credit: 1_000, most: 1_000 }

/**
 * To begin a git takes some 50 ms of a processor, and what it takes of another processor is taken from the share that the pod has of
 * its node, however nice it is: the thread that answers waits for it. While it does, few begin at once, and the namespaces
 * that wait get equal parts. Otherwise each is young until the next look.
 */
export function paceGits({
  elapsed = () => performance.now(),
  wait = watchProcessorWait(),
}: PaceTerms = {}): BeginGit {
  const young = new Map<() => void, number>()
  const queue = openFairQueue(AT_ONCE, { elapsed, taken: countWithCredit(GITS), spare: true })
  let running = 0
  let looking: NodeJS.Timeout | undefined

  function look(): void {
    wait.look()
    const youngest = wait.isLong() ? elapsed() - YOUNG_MS : Infinity
    for (const [leave, since] of young) if (since <= youngest) leave()
  }

  function begins(): void {
    running += 1
    looking ??= setInterval(look, LOOK_MS)
  }

  function ends(): void {
    running -= 1
    if (running > 0) return
    clearInterval(looking)
    looking = undefined
    wait.reset()
  }

  return async function begin(namespace, signal, rank) {
    begins()
    const leave = await queue.enter(namespace, signal, rank).catch((error: unknown) => {
      ends()
      throw error
    })
    function grown(): void {
      young.delete(grown)
      leave(MOST_MS)
    }
    young.set(grown, elapsed())
    return () => {
      grown()
      ends()
    }
  }
}
