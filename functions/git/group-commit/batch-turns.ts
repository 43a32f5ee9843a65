import { anySignal } from '../../domain/deadline.ts'
import type { Release } from '../../domain/network/budget.ts'
import type { BranchWriter, Slow } from './branch-lines.ts'
import type { BranchTurn, BranchTurns } from './branch-turns.ts'
import type { BranchTarget } from './queue/branch-place.ts'
import type { Acquire, Session } from './first-session.ts'

/** The turns at the branch of one batch. */
export interface BatchTurns {
  /** Waits for a turn that counts towards a namespace. */
  readonly acquire: Acquire
  /** The batch has this one. */
  readonly begin: (turn: Session) => void
  /**
   * Before a push after one that was late: waits for another turn, of whichever of the namespaces of its changes is next, unless the
   * batch has one. Rejects if the signal fires.
   */
  readonly again: (namespaces: Iterable<string>, signal: AbortSignal) => Promise<void>
  /** The batch has ended, or is not about to begin. */
  readonly end: () => void
}

/** Whose turns they are. */
export interface BatchWriter extends Omit<BranchWriter, 'namespaces' | 'slowMs'> {
  /** As BranchWriter says, of a push that one of its namespaces makes by itself: other pushes of it may show more meanwhile. */
  readonly slowMs?: (namespace: string) => Slow
}

/** Begins with none. `writer`: of the batch, whatever the namespaces. */
export function takeBatchTurns(
  turns: Pick<BranchTurns, 'take'>,
  target: BranchTarget,
  { slowMs: slowMsOf = () => 0, ...writer }: BatchWriter,
): BatchTurns {
  const taken = new Map<Release, BranchTurn>()
  let current: BranchTurn | undefined

  function take(
    namespace: string,
    signal: AbortSignal,
    now: Partial<BranchWriter> = {},
  ): Promise<BranchTurn> {
    const { isShared } = { ...writer, ...now }
    const slowMs = isShared === true ? 0 : slowMsOf(namespace)
    return turns.take(target, { ...writer, ...now, slowMs, namespaces: [namespace] }, signal)
  }

  return {
    async acquire({ namespace }, signal) {
      const turn = await take(namespace, signal)
      taken.set(turn.release, turn)
      return turn.release
    },
    begin: ({ release }) => void (current = taken.get(release)),
    async again(namespaces, signal) {
      if (current?.isOver() !== true) return
      current.release()
      const first = new AbortController()
      const either = anySignal([signal, first.signal])
      const those = [...namespaces]
      const isShared = those.length > 1
      const all = those.map(async (namespace) => {
        // It has waited for its size already, and what was large may have left it.
        const turn = await take(namespace, either, { likelyMs: 0, isShared })
        if (first.signal.aborted) turn.release()
        else {
          first.abort()
          current = turn
        }
      })
      // Those who are late leave the line.
      await Promise.any(all).catch(() => signal.throwIfAborted())
    },
    end: () => current?.release(),
  }
}
