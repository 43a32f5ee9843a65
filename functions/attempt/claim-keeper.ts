import { CONFLICT } from '../cluster/cluster.ts'
import { withClaimRights, type ClaimCalls } from '../cluster/rbac-retry.ts'
import { unlessAborted } from '../domain/deadline.ts'
import { Failure } from '../domain/failure.ts'
import { carriesClaim } from '../domain/resource/attempt-state.ts'
import {
  ageForOthers,
  isConfirmed,
  mayBeGone,
  remainingOf,
  RENEWED_AFTER_MS,
} from '../domain/resource/claims.ts'
import { envelopeOf, refOf } from '../domain/resource/envelope.ts'
import type { Envelope } from '../domain/resource/resource.ts'
import { renewed } from '../domain/resource/status.ts'
import { committing } from '../domain/resource/sync-status.ts'
import { makeFairSemaphore } from '../domain/sharing/semaphores/fair-semaphore.ts'
import { makeKeyedSemaphore } from '../domain/sharing/semaphores/keyed-semaphore.ts'
import type { World } from '../world.ts'
import { keptChanging } from './status-writes.ts'

/** What the keeper needs of the outside. */
export interface ClaimKeeperParts {
  readonly cluster: ClaimCalls
  /** The API server's time. */
  readonly now: () => Date
  /** Milliseconds of a clock that is never set, and goes on while the machine is suspended. */
  readonly elapsed: () => number
}

/** How often the keeper looks for claims to renew, and how many it renews then. */
const LOOK_MS = 1_000
const MOST_RENEWALS = 64
/**
 * Writes that run at once, and those of one namespace: they may wait for its share of large resources, and what ten namespaces wait
 * for leaves some to others.
 */
const WRITES = 24
const WRITES_OF_NAMESPACE = 2
/** Most writes of one renewal while other writers change the resource. */
const MOST_TRIES = 4

const NEVER = new AbortController().signal

interface Kept {
  /** The resource as it was last written or read. */
  envelope: Envelope
  /** When the last write that was stored was sent. */
  sentAt: number
  /** How many writes were sent, and which of them was stored last. */
  sent: number
  stored: number
  renewing: Promise<void> | undefined
  /** The sources that a follower is about to commit. */
  sources: string | undefined
  /** The resource was deleted, and one of its name has a claim since. */
  replaced: boolean
  readonly lost: AbortController
}

/**
 * Renews all claims of a process by one timer. The writes are bounded: with the 1,280 events in hand each claim is renewed
 * every 20 s, which is enough. A claim that cannot be renewed is not given up: it holds until another attempt takes over.
 */
export function openClaimKeeper({ now, elapsed, ...parts }: ClaimKeeperParts): World['keepClaim'] {
  const cluster = withClaimRights(parts.cluster)
  const claims = new Set<Kept>()
  const ofAll = makeFairSemaphore(WRITES, elapsed)
  const ofNamespace = makeKeyedSemaphore(WRITES_OF_NAMESPACE)
  let timer: NodeJS.Timeout | undefined

  /** How many milliseconds ago it was written last, for ourselves or for those who may take over. */
  function ageOf({ envelope, sentAt }: Kept, at = { elapsed: elapsed(), now: now() }): number {
    return Math.max(at.elapsed - sentAt, ageForOthers(envelope.status ?? {}, at.now))
  }

  function look(): void {
    const at = { elapsed: elapsed(), now: now() }
    const due = [...claims].filter(
      (kept) => kept.renewing === undefined && ageOf(kept, at) >= RENEWED_AFTER_MS,
    )
    due.sort((one, other) => one.sentAt - other.sentAt)
    // A failure is seen by the next look, or by whoever needs the claim confirmed.
    for (const kept of due.slice(0, MOST_RENEWALS)) renew(kept).catch(() => undefined)
  }

  function renew(kept: Kept): Promise<void> {
    const { namespace } = kept.envelope.metadata
    kept.renewing ??= ofNamespace(namespace, () => ofAll(namespace, () => write(kept))).finally(
      () => (kept.renewing = undefined),
    )
    return kept.renewing
  }

  async function write(kept: Kept): Promise<void> {
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      kept.lost.signal.throwIfAborted()
      const { envelope, sources } = kept
      if (envelope.status === undefined) return lose(kept)
      const claim = sources === undefined ? envelope.status : committing(envelope.status, sources)
      const sentAt = elapsed()
      kept.sent += 1
      const number = kept.sent
      const stored = await cluster.patchStatus(envelope, renewed(claim, now()))
      if (stored !== CONFLICT) {
        kept.envelope = envelopeOf(stored)
        kept.sentAt = sentAt
        kept.stored = number
        return
      }
      const whole = await cluster.readResource(refOf(envelope))
      const latest = whole === undefined ? undefined : envelopeOf(whole)
      if (latest === undefined || !carriesClaim(latest, envelope)) return lose(kept)
      kept.envelope = latest
    }
    throw keptChanging()
  }

  function lose({ lost }: Kept): never {
    const failure = new Failure(
      'Conflict',
      'Another attempt has taken over, because this one was held up; nothing was written.',
    )
    lost.abort(failure)
    throw failure
  }

  /** Whether there are claims for deleted resources of the same name: none of them is confirmed any more. */
  function replaceBy(kept: Kept): boolean {
    const others = [...claims].filter(({ envelope }) => isOtherOfName(envelope, kept.envelope))
    // The answer to a claim may come late. Of a deleted resource nothing is written any more.
    for (const other of others) (other.sentAt <= kept.sentAt ? other : kept).replaced = true
    return others.some(({ replaced }) => replaced)
  }

  function add(kept: Kept): void {
    claims.add(kept)
    timer ??= setInterval(look, LOOK_MS).unref()
  }

  function remove(kept: Kept): void {
    claims.delete(kept)
    if (claims.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  return function keepClaim(claimed, claimSentAt) {
    const kept: Kept = {
      envelope: claimed,
      sentAt: claimSentAt,
      sent: 0,
      stored: 0,
      renewing: undefined,
      sources: undefined,
      replaced: false,
      lost: new AbortController(),
    }
    const { signal } = kept.lost
    async function confirm(afresh = false, withinMs?: number): Promise<void> {
      const before = afresh ? kept.sent : -1
      const late = withinMs === undefined ? NEVER : AbortSignal.timeout(withinMs)
      const needsWrite = (): boolean => kept.stored <= before || !isConfirmed(ageOf(kept))
      // A renewal that is under way may have been sent too early.
      while (needsWrite()) await unlessAborted(renew(kept), late, keptOthersWaiting)
      signal.throwIfAborted()
      if (kept.replaced) throw deletedMeanwhile()
    }

    // The result of an attempt that has ended says what it has sent.
    const mayBegin = (): boolean => claims.has(kept) && !signal.aborted && !kept.replaced
    const replaces = replaceBy(kept)
    add(kept)
    return {
      lost: signal,
      replaces,
      confirm,
      async committing(sources) {
        if (kept.envelope.status?.sync?.committing === sources) return
        kept.sources = sources
        await confirm(true)
      },
      async stillThere() {
        if (!mayBeGone(elapsed() - kept.sentAt)) return
        const whole = await cluster.readResource(refOf(kept.envelope))
        if (whole === undefined || envelopeOf(whole).metadata.uid !== claimed.metadata.uid) lose(kept)
      },
      remaining: () => (mayBegin() ? remainingOf(ageOf(kept)) : 0),
      async end() {
        remove(kept)
        await kept.renewing?.catch(() => undefined)
        return kept.envelope
      },
    }
  }
}

function isOtherOfName(one: Envelope, other: Envelope): boolean {
  const [a, b] = [one.metadata, other.metadata]
  return a.name === b.name && a.namespace === b.namespace && one.kind === other.kind && a.uid !== b.uid
}

function deletedMeanwhile(): Failure {
  return new Failure(
    'Conflict',
    'The resource was deleted, and another one was made under its name; nothing was written.',
  )
}

function keptOthersWaiting(): Failure {
  return new Failure(
    'Conflict',
    'The claim of this attempt could not be renewed in the time for which others wait; Commitlet retries automatically.',
  )
}
