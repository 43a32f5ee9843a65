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
  /** Others write to the branch as well: its remembered tip is old. Default: nobody does. */
  readonly contended?: boolean
  /** Called when others have moved the branch, or may have. */
  readonly raced?: () => void
}

/**
 * Writes a batch in rounds, and answers what is settled as soon as that is known. At the end each change that was waited for is
 * settled. A batch that the remote refuses because of its commits is halved until the bad ones stand alone.
 */
export function land(remote: Remote, landing: Landing): AsyncGenerator<Settled, void> {
  const { batch, contended = false } = landing
  const work = { batch, doubts: firstDoubts(batch), rounds: 0 }
  return landWork(remote, contended ? { ...work, fresh: true } : work, landing)
}

async function* landWork(remote: Remote, work: Work, landing: Landing): AsyncGenerator<Settled, void> {
  for (const next of yield* tryRound(remote, work, landing.signal)) {
    if (next.raced === true) landing.raced?.()
    yield* landWork(remote, next, landing)
  }
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
