import { setTimeout as wait } from 'node:timers/promises'
import { asFailure, Failure } from '../../domain/failure.ts'
import { isWaitedFor, type PendingChange } from './pending-change.ts'
import { fetchBase } from '../session/fetch.ts'
import { commitAndPush } from './commit-and-push.ts'
import { doubt, firstDoubts, searchedSince, settleFound, type Doubts } from './doubts.ts'
import type { Session } from '../session/session.ts'

/** How often a batch is built anew on a branch that others move, before it fails with Conflict. */
export const ROUNDS = 10

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 3000

/**
 * Writes a batch (one repository, one branch, one login) and settles each entry. What is bad before the push
 * fails alone; a batch that the remote refuses because of its commits is halved until the bad ones stand alone.
 */
export function land(session: Session, batch: readonly PendingChange[]): Promise<void> {
  return landHalves(session, batch, firstDoubts(batch))
}

async function landHalves(session: Session, batch: readonly PendingChange[], doubts: Doubts): Promise<void> {
  const open = batch.filter(isWaitedFor)
  if (open.length === 0) return
  const left = new Set(open)
  const refused = await writeRounds(session, left, doubts).catch((error: unknown) => ({
    failure: asFailure(error),
    each: false,
  }))
  const rest = [...left]
  if (!refused.each || rest.length === 1) {
    for (const entry of rest) entry.settle(refused.failure)
    return
  }
  await landHalves(session, rest.slice(0, rest.length / 2), doubts)
  await landHalves(session, rest.slice(rest.length / 2), doubts)
}

interface Refused {
  readonly failure: Failure
  readonly each: boolean
}

/** Settles entries and takes them out of `left`; what stays in it has met the refusal that is answered. */
async function writeRounds(session: Session, left: Set<PendingChange>, doubts: Doubts): Promise<Refused> {
  let suspect: Suspect | undefined
  for (let round = 0; round < ROUNDS; round++) {
    if (round > 0) await pause(round, session.signal)
    const [first] = [...left].filter(isWaitedFor)
    if (first === undefined) break
    const base = await fetchBase(session, first.change.branch, searchedSince(doubts, left))
    if (base === undefined) continue
    if (suspect !== undefined && suspect.tip === base.tip) return { failure: suspect.failure, each: true }
    await settleFound(session, { base, doubts }, left)
    const pushed = await commitAndPush(session, base, left)
    if (left.size === 0) break
    if (pushed?.kind === 'refused') return pushed
    suspect =
      pushed?.kind === 'race' && pushed.unless !== undefined
        ? { tip: base.tip, failure: pushed.unless }
        : undefined
    if (pushed?.kind === 'moved') doubt(doubts, left)
  }
  return { failure: lostRace(session), each: false }
}

interface Suspect {
  readonly tip: string | undefined
  readonly failure: Failure
}

// Full jitter: writers that met once do not meet again.
async function pause(round: number, signal: AbortSignal): Promise<void> {
  const longest = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (round - 1))
  await wait(Math.random() * longest, undefined, { signal })
}

function lostRace({ context }: Session): Failure {
  return new Failure(
    'Conflict',
    `Other writers moved the branch of ${context.url} ${ROUNDS} times while the commit was on its way; it is tried again.`,
  )
}
