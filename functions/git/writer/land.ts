import { asFailure } from '../../domain/failure.ts'
import type { Remote } from '../remote.ts'
import { firstDoubts } from './doubts.ts'
import { failAll, type PendingChange, type Settled } from './pending-change.ts'
import { pauseBefore, writeRound, type Work } from './round.ts'

/** Changes of one repository, branch and login, for one session. */
export interface Landing {
  readonly batch: readonly PendingChange[]
  /** Fires when nobody waits for any of them. */
  readonly signal: AbortSignal
}

/**
 * Writes a batch in rounds, and answers what is settled as soon as that is known. At the end each change that was waited for is
 * settled. A batch that the remote refuses because of its commits is halved until the bad ones stand alone.
 */
export function land(remote: Remote, { batch, signal }: Landing): AsyncGenerator<Settled, void> {
  return landWork(remote, { batch, doubts: firstDoubts(batch), rounds: 0 }, signal)
}

async function* landWork(remote: Remote, work: Work, signal: AbortSignal): AsyncGenerator<Settled, void> {
  for (const next of yield* tryRound(remote, work, signal)) yield* landWork(remote, next, signal)
}

/** A Failure before anything is written ends all of the round's changes. */
async function* tryRound(
  remote: Remote,
  work: Work,
  signal: AbortSignal,
): AsyncGenerator<Settled, readonly Work[]> {
  try {
    await pauseBefore(work, signal)
    return yield* writeRound(remote, work)
  } catch (error) {
    yield failAll(work.batch, asFailure(error))
    return []
  }
}
