import { openFairQueue } from '../../domain/sharing/fair-queue.ts'
import { countWithCredit, type Credit } from '../../domain/sharing/taken-time.ts'
import type { Rank } from '../../domain/sharing/waiting-line.ts'
import { stopIfAborted } from './launcher.ts'
import { watchProcessorWait, type ProcessorWait } from './processor-wait.ts'

/** The gits of one session, one after the other. */
export interface SessionPace {
  /**
   * Waits until the next git may begin; the result is to be called once, when it has ended.
   * @throws Failure that of `stopIfAborted` if the signal fires before
   */
  readonly begin: () => Promise<() => void>
  /** Gives back what the session has not begun. */
  readonly close: () => void
}

/**
 * Waits until a session of the namespace may begin its first git. It goes on before another one of its namespace begins.
 * @throws Failure that of `stopIfAborted` if the signal fires before
 */
export type BeginGits = (namespace: string, signal: AbortSignal) => Promise<SessionPace>

/** What the pace is measured by. */
export interface PaceTerms {
  /** Milliseconds of a clock that is never set. */
  readonly elapsed?: () => number
  readonly wait?: ProcessorWait
}

/** Gits that are young at the same time, and one more of a namespace that has none while another one has both. */
const AT_ONCE = 2
/** A git is young for as long while the thread waits for no processor. */
const LOOK_MS = 50
/** Milliseconds for which a git is young while the thread waits for a processor: one that goes on mostly waits for its server. */
const YOUNG_MS = 500
/** Of those, what counts as taken by its namespace. */
const MOST_MS = 100
/** The credit is that of two usual commits. */
const GITS: Credit = { same: 50, credit: 1_000, most: 1_000 }

/**
 * To begin a git takes some 50 ms of a processor, and what it takes of another processor is taken from the share that the pod has of
 * its node, however nice it is: the thread that answers waits for it. While it does, few begin at once, and the namespaces
 * that wait get equal parts. Otherwise a git is young for a moment only.
 */
export function paceGits({
  elapsed = () => performance.now(),
  wait = watchProcessorWait(),
}: PaceTerms = {}): BeginGits {
  const young = new Map<() => void, number>()
  const queue = openFairQueue(AT_ONCE, { elapsed, taken: countWithCredit(GITS), spare: true })
  let running = 0
  let looking: NodeJS.Timeout | undefined

  /** Has those leave that are young for long enough. */
  function letGo(): void {
    const youngest = elapsed() - (wait.isLong() ? YOUNG_MS : LOOK_MS)
    for (const [leave, since] of young) if (since <= youngest) leave()
  }

  function look(): void {
    wait.look()
    letGo()
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

  async function begin(namespace: string, signal: AbortSignal, rank?: Rank): Promise<() => void> {
    letGo()
    begins()
    const leave = await queue.enter(namespace, signal, rank).catch((error: unknown) => {
      ends()
      stopIfAborted(signal)
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

  return async function open(namespace, signal) {
    let first: (() => void) | undefined = await begin(namespace, signal)
    return {
      async begin() {
        const taken = first
        first = undefined
        return taken ?? begin(namespace, signal, 'first of its owner')
      },
      close() {
        first?.()
        first = undefined
      },
    }
  }
}
