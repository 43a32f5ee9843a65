import { anySignal, OVER, unlessAborted } from '../../functions/domain/deadline.ts'
import { Failure } from '../../functions/domain/failure.ts'
import type { ThreadTurns } from './thread-turns.ts'

/** The sentence of the Failure where work got no turn in time, because its namespace had too much in hand. */
export const NO_TURN =
  'More applies of this namespace are being decided at the moment than there is time for; try again.'

/** What work with a deadline gets. */
export interface Timed {
  /** Fires at the deadline, when the work is given up, and when it has ended. */
  readonly signal: AbortSignal
  /** Does what holds the thread in the turns of the namespace, unless the signal fires before. */
  readonly inTurn: <T>(work: () => T) => Promise<T>
}

/** Whose turns are taken, and the time limit in milliseconds. */
export interface Terms {
  readonly namespace: string
  /** From which the review has come. */
  readonly address?: string | undefined
  readonly inTurn: ThreadTurns
  readonly milliseconds: number
  /** Fires with a Failure where the work is to end before. */
  readonly givenUp?: AbortSignal | undefined
}

/**
 * The result of the work if it ends in time. Otherwise throws Timeout, or why it is given up; the work continues, without
 * further turns, and its result is ignored.
 */
export async function withDeadline<T>(
  { namespace, address, inTurn, milliseconds, givenUp }: Terms,
  work: (timed: Timed) => Promise<T>,
): Promise<T> {
  const [deadline, over] = [new AbortController(), new AbortController()]
  let waiting = 0
  const timed: Timed = {
    signal: over.signal,
    inTurn(work) {
      waiting += 1
      const begin = (): ReturnType<typeof work> => {
        waiting -= 1
        return work()
      }
      return inTurn(namespace, over.signal, begin, address)
    },
  }
  const timer = setTimeout(() => {
    const silent = `The API server did not answer within ${milliseconds} ms.`
    deadline.abort(new Failure('Timeout', waiting > 0 ? NO_TURN : silent))
  }, milliseconds)
  try {
    const ends = anySignal([deadline.signal, ...(givenUp === undefined ? [] : [givenUp])])
    return await unlessAborted(work(timed), ends)
  } finally {
    clearTimeout(timer)
    over.abort(OVER)
  }
}
