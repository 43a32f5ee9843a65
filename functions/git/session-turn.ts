import type { Batch } from './group-commit/batch.ts'
import type { SessionTurn } from './remote.ts'
import { namespaceOf, type PendingChange } from './writer/pending-change.ts'

/** The turn of the session of a batch, and what the batch is told of its rounds. */
export interface TurnOfBatch extends Pick<Batch, 'roundEnded'> {
  readonly turn: SessionTurn
}

/**
 * The turn of a batch for its session. What the session waits for once it has given its turn to others is no time of a round: whose
 * commits make pushes slow is known by that. `changes`: those that are in the batch by then.
 */
export function turnOfBatch(
  { endTurn, takeTurn, roundEnded }: Pick<Batch, 'endTurn' | 'takeTurn' | 'roundEnded'>,
  changes: () => readonly PendingChange[],
): TurnOfBatch {
  let ended = 0
  let waitedMs = 0
  return {
    turn: {
      end() {
        ended = performance.now()
        endTurn()
      },
      async again(signal) {
        await takeTurn(new Set(changes().map(namespaceOf)), signal)
        waitedMs += performance.now() - ended
      },
    },
    roundEnded(round) {
      roundEnded({ ...round, milliseconds: Math.max(0, round.milliseconds - waitedMs) })
      waitedMs = 0
    },
  }
}
