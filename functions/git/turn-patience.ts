import { anySignal } from '../domain/deadline.ts'
import type { Release } from '../domain/network/budget.ts'

/** For how long somebody waits for a turn. */
export interface TurnPatience {
  /** Milliseconds, of those that others keep the owner waiting. */
  readonly mostMs: number
  /** When one of the same owner last had a turn, or went without; -Infinity: never. */
  readonly passedAt: () => number
  /** This one goes without a turn now. */
  readonly pass: () => void
  /** Milliseconds of a clock that is never set. */
  readonly elapsed: () => number
  /** Fires when it does not want a turn any more. */
  readonly leaving: AbortSignal
}

/**
 * Waits for a turn. Resolves with undefined once it has waited for long enough, and may go without: for others, since one of its own
 * was let through. If those who wait for their own went as well, they would be many at once, where there are turns because one at a
 * time is best. Rejects if `leaving` fires.
 */
export async function enterPatiently(
  enter: (signal: AbortSignal) => Promise<Release>,
  { mostMs, passedAt, pass, elapsed, leaving }: TurnPatience,
): Promise<Release | undefined> {
  const over = new AbortController()
  let timer: NodeJS.Timeout | undefined
  function waitFrom(from: number): void {
    timer = setTimeout(
      () => {
        const passed = passedAt()
        if (passed > from) {
          waitFrom(passed)
          return
        }
        pass()
        over.abort()
      },
      // In a busy process the time may be over by now.
      Math.max(0, Math.ceil(from + mostMs - elapsed())),
    )
  }
  waitFrom(elapsed())
  try {
    return await enter(anySignal([over.signal, leaving]))
  } catch (error) {
    if (over.signal.aborted && !leaving.aborted) return undefined
    throw error
  } finally {
    clearTimeout(timer)
  }
}
