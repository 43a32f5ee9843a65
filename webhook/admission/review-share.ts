import { asFailure } from '../../functions/domain/failure.ts'
import { fewInATurn } from '../../functions/domain/sharing/semaphores/few-in-a-turn.ts'
import { makeKeyedSemaphore } from '../../functions/domain/sharing/semaphores/keyed-semaphore.ts'
import { openKeyedTurns } from '../../functions/domain/sharing/keyed-turns.ts'
import { shareSlowCalls, type InTurn } from '../../functions/cluster/calls/slow-calls.ts'
import type { CallForAnybody } from '../../functions/cluster/calls/usual-time.ts'
import { TIMING } from '../../functions/net/timing.ts'

/** Calls for reviews that are made at once, in the turns of the addresses: of the 64 connections, some are for other calls. */
const OF_ALL = 48
/** The same for the reviews of one namespace. */
const OF_NAMESPACE = 16
/** The same for all namespaces that reviews from one address name: a pod that is no API server may name any number. */
const OF_ADDRESS = 32
/** The same about users that are long, in all: the API server gets them with each call, and sends them back. */
const OF_LONG = 2
/**
 * Calls that follow others in a turn of the event loop: each takes the thread some 0.5 ms, and its answer as much. Many answers are
 * there at the same moment, and a request of the API server needs several turns.
 */
const IN_A_TURN = 4

/** Whose calls they are. */
export interface ReviewOwner {
  readonly namespace: string
  /** From which the review has come. */
  readonly address?: string | undefined
  /** Whether they tell of a user with a long list of groups. */
  readonly isLong?: boolean
  /** For those for which the API server reads the rights of the namespace: the same for anybody, as of SlowCalls. */
  readonly forAnybody?: CallForAnybody
}

/**
 * Asks once the namespace, and the address from which the review has come, have less than their share under way. Rejects with
 * a Failure if the signal fires while it waits.
 */
export type ReviewShare = <T>(owner: ReviewOwner, signal: AbortSignal, ask: () => Promise<T>) => Promise<T>

/**
 * Shares the calls for access reviews, and for the kinds that they are about, among namespaces. One GitCommit may name a
 * hundred objects, and dry runs cost their sender nothing: without this, the reviews of namespaces that send them keep
 * those of all others waiting. A namespace without reviews takes no memory.
 */
export function shareReviews(
  // A namespace may have any number of RoleBindings, all of which the API server reads for each review.
  slowly = shareSlowCalls(),
): ReviewShare {
  const ofNamespace = makeKeyedSemaphore(OF_NAMESPACE)
  // All take about as long: the namespaces at an address take turns, and so do the addresses.
  const handOver = fewInATurn(IN_A_TURN, TIMING.nextTurn)
  const ofAddress = openKeyedTurns(OF_ADDRESS, () => 0, { handOver })
  const longOfAddress = openKeyedTurns(OF_LONG, () => 0)
  const ofAll = openKeyedTurns(OF_ALL, () => 0)
  const ofLong = openKeyedTurns(OF_LONG, () => 0)

  return ({ namespace, address = '', isLong = false, forAnybody }, signal, ask) => {
    const atAddress = { key: address, owner: namespace, signal, late: asFailure }
    const amongAll = { ...atAddress, key: 'all', owner: address }
    const inShare: InTurn = (call) => ofAddress(atAddress, () => ofAll(amongAll, call))
    const inLongShare: InTurn = (call) =>
      longOfAddress(atAddress, () => ofLong(amongAll, () => inShare(call)))
    const inTurn: InTurn = (call) =>
      ofNamespace(`${address} ${namespace}`, () => (isLong ? inLongShare : inShare)(call))
    if (forAnybody === undefined) return inTurn(ask)
    return slowly(`${address} ${namespace}`, { inTurn, call: ask, forAnybody, signal }).catch(
      (error: unknown) => {
        throw asFailure(error)
      },
    )
  }
}
