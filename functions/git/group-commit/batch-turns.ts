import type { Release } from '../../domain/network/budget.ts'
import type { BranchTurn, BranchTurns, BranchWriter } from './branch-turns.ts'
import type { BranchTarget } from './expected-changes.ts'
import type { Acquire, Session } from './first-session.ts'

/** The turns at the branch of one batch. */
export interface BatchTurns {
  /** Waits for a turn that counts towards a namespace. */
  readonly acquire: Acquire
  /** The batch has this one. */
  readonly begin: (turn: Session) => void
  /** Before a push after one that was late: waits for another turn, unless the batch has one. Rejects if the signal fires. */
  readonly again: (signal: AbortSignal) => Promise<void>
  /** The batch has ended, or is not about to begin. */
  readonly end: () => void
}

/** Begins with none. `writer`: of the batch, whatever the namespaces. */
export function takeBatchTurns(
  turns: Pick<BranchTurns, 'take'>,
  target: BranchTarget,
  writer: Omit<BranchWriter, 'namespaces'>,
): BatchTurns {
  const taken = new Map<Release, BranchTurn>()
  let current: { readonly namespace: string; readonly turn: BranchTurn | undefined } | undefined

  function take(namespace: string, signal: AbortSignal): Promise<BranchTurn> {
    return turns.take(target, { ...writer, namespaces: [namespace] }, signal)
  }

  return {
    async acquire({ namespace }, signal) {
      const turn = await take(namespace, signal)
      taken.set(turn.release, turn)
      return turn.release
    },
    begin: ({ namespace, release }) => void (current = { namespace, turn: taken.get(release) }),
    async again(signal) {
      if (current === undefined || current.turn?.isOver() === false) return
      const { namespace } = current
      current.turn?.release()
      current = { namespace, turn: await take(namespace, signal) }
    },
    end: () => current?.turn?.release(),
  }
}
