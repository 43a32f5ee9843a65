import { CLAIM_SECONDS } from '../../functions/domain/resource/claims.ts'
import type { DeliveryTimes } from './delivery.ts'
import type { ShareOf } from './caller-queues.ts'
import type { QueueLimits } from './fair-queue.ts'

/** Limits of the sink: numbers of events and times. */
export interface SinkLimits extends DeliveryTimes, QueueLimits {
  readonly inFlight: number
  /** Most events of one namespace in flight; fewer where many namespaces are busy. */
  readonly perNamespace: number
  /** How long an event without a response counts as in flight for other events, so that a hanging sink is not waited for. */
  readonly slotMs: number
  /** Most requests that are open for longer than that. The oldest one is given up for the next. */
  readonly overdue: number
  /** How long an event without a response counts as in flight for the sweeps. */
  readonly trustedMs: number
  /** After an event whose request broke, it is sent once more: by then the claim of an attempt that broke has ended. */
  readonly claimMs: number
}

/**
 * 1,024 requests of some 20 KiB and 10,000 waiting events of 1 KiB each: 30 MiB at most. The function responds when the
 * attempt is done, for which Knative allows up to 600 s: a request may take a little longer.
 */
export const SINK_LIMITS: SinkLimits = {
  inFlight: 320,
  perNamespace: 64,
  slotMs: 20_000,
  overdue: 704,
  waiting: 10_000,
  waitingPerNamespace: 5_000,
  // A sweep reads each of them, while the namespaces after it wait.
  sweptPerNamespace: 1_000,
  requestMs: 610_000,
  bodyMs: 5_000,
  windowMs: 60_000,
  firstPauseMs: 200,
  // A living attempt renews its claim, so that a sweep leaves it alone.
  trustedMs: CLAIM_SECONDS * 1000,
  claimMs: (CLAIM_SECONDS + 1) * 1000,
}

/** Of the places that other callers leave, so much is for one. */
const OF_CALLER = 4 / 5

/**
 * A caller has four fifths of the places that the others leave, and so 256 where it is alone; together they never have more than
 * there are. A namespace has a quarter of what is free of these, so that many namespaces whose requests hang leave something for
 * the next one.
 */
export function shareOf({ inFlight, perNamespace }: SinkLimits): ShareOf {
  return (own, others) => {
    const free = Math.max(0, OF_CALLER * (inFlight - others) - own)
    return Math.min(perNamespace, Math.ceil(free / 4))
  }
}
