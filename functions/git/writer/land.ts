import { asFailure } from '../../domain/failure.ts'
import type { Remote } from '../remote.ts'
import { firstDoubts } from './doubts.ts'
import { failAll, type PendingChange, type Settled } from './pending-change.ts'
import { pauseBefore, writeRound, type Progress, type Work } from './round.ts'

/** Changes of one repository, branch and login, for one session. */
export interface Landing {
  readonly batch: readonly PendingChange[]
  /** Fires when nobody waits for any of them. */
  readonly signal: AbortSignal
}

/**
 * Writes a batch in rounds, and answers after each what it has settled. At the end each change that was waited for is
 * settled. A batch that the remote refuses because of its commits is halved until the bad ones stand alone.
 */
export function land(remote: Remote, { batch, signal }: Landing): AsyncGenerator<Settled, void> {
  return landWork(remote, { batch, doubts: firstDoubts(batch), rounds: 0 }, signal)
}

async function* landWork(remote: Remote, work: Work, signal: AbortSignal): AsyncGenerator<Settled, void> {
  const { settled, rest } = await tryRound(remote, work, signal)
  if (settled.size > 0) yield settled
  for (const next of rest) yield* landWork(remote, next, signal)
}

/** A Failure ends all of the round's changes. */
async function tryRound(remote: Remote, work: Work, signal: AbortSignal): Promise<Progress> {
  try {
    await pauseBefore(work, signal)
    return await writeRound(remote, work)
  } catch (error) {
    return { settled: failAll(work.batch, asFailure(error)), rest: [] }
  }
}
