import { conditionsOf, timestamp } from './conditions.ts'
import type { DetailsResult } from './conditions.ts'
import { lapsesOf, mayHavePushed, requestedAt } from './attempt-state.ts'
import { Failure } from '../failure.ts'
import { isFailureReason } from '../reasons.ts'
import type { Awaited, CommitStatus, Phase, PullRequestStatus, Status } from './stored-status.ts'
import type { Envelope } from './resource.ts'
import { nextDelay } from './backoff.ts'
import { latePushes, nothingPushedUntil, type LatePushes } from './late-push.ts'
import { syncAfter, syncBefore } from './sync-status.ts'
import { CLAIM_SECONDS } from './claims.ts'

/** How an attempt succeeded. `UpToDate`: nothing had to be changed on the remote. */
export interface Outcome {
  readonly reason: 'Succeeded' | 'UpToDate'
  readonly message: string
  readonly credentialsUsed: 'Primary' | 'Fallback' | 'Default'
  /** Of a GitCommit. */
  readonly commit?: CommitStatus
  /** Of a follower: the digest of the sources whose content is on the branch now. */
  readonly sources?: string | undefined
  /** Of a PullRequest. */
  readonly pullRequest?: PullRequestStatus
  /** The result for its labels, reviewers and assignees, if it has any. `as before`: they were not changed. */
  readonly details?: DetailsResult | 'as before' | undefined
}

/** What a claim depends on, apart from the resource. */
export interface ClaimTerms {
  /** The API server's time. */
  readonly now: Date
  /** A number from 0 to 1, drawn for each claim. */
  readonly random: number
}

/** What the status of a claim depends on, apart from the resource. */
export interface ClaimedTerms extends ClaimTerms {
  /** See `latePushesBefore`; default: there are none. */
  readonly late?: LatePushes
}

/**
 * The status with which an attempt begins. A retry keeps the conditions of the last failure.
 * No two claims are equal: `lastAttemptTime` has a random fraction of a second (metav1.MicroTime).
 */
export function claimed(resource: Envelope, { now, random, late = {} }: ClaimedTerms): Status {
  const retried = mayHavePushed(resource)
  const lapses = lapsesOf(resource)
  const before = resource.status
  const attempts = retried ? (before?.attempts ?? 0) + 1 : 1
  const conditions =
    retried && before?.conditions !== undefined && before.conditions.length > 0
      ? before.conditions
      : conditionsOf(resource, now, {
          ready: 'Unknown',
          progress: 'Reconciling',
          reason: 'Progressing',
          message: 'The first attempt is running.',
          details: 'as before',
        })
  return {
    ...common(resource, 'Progressing', attempts),
    conditions,
    startedAt: retried && before?.startedAt !== undefined ? before.startedAt : startOf(resource, now, random),
    lastAttemptTime: microTime(now, random),
    nextAttemptTime: endOfClaim(now),
    ...(lapses === 0 ? {} : { lapses }),
    ...latePushes(late.latePush, late.latePushTo),
    // What an attempt at another request was committing is nothing to this one.
    ...syncBefore(resource, retried),
    ...resultBefore(resource),
  }
}

// A value of requested-at may come back at the same generation: `requestStart` tells the two requests apart.
function startOf(resource: Envelope, now: Date, random: number): string {
  return requestedAt(resource) === undefined ? timestamp(now) : microTime(now, random)
}

/** The status `claim`, of a resource that carries it, with which the claim holds for longer. */
export function renewed(claim: Status, now: Date): Status {
  return { ...claim, nextAttemptTime: endOfClaim(now) }
}

function endOfClaim(now: Date): string {
  return timestamp(later(now, CLAIM_SECONDS))
}

/** The status after a success. `resource` carries the claim. `late`: pushes that may still be carried out all the same. */
export function succeeded(resource: Envelope, outcome: Outcome, now: Date, late: LatePushes = {}): Status {
  return {
    ...common(resource, 'Succeeded', resource.status?.attempts ?? 1),
    conditions: conditionsOf(resource, now, {
      ready: 'True',
      reason: outcome.reason,
      message: outcome.message,
      details: outcome.details,
    }),
    ...times(resource),
    ...latePushes(late.latePush, late.latePushTo),
    credentialsUsed: outcome.credentialsUsed,
    ...syncAfter(resource, outcome, timestamp(now)),
    ...resultOf(outcome),
  }
}

/** What the status after a failure depends on, apart from the resource and the failure. */
export interface FailureTerms extends ClaimTerms {
  /** RETRY_LIMIT. */
  readonly limit: number
  /** What has to change before another attempt makes sense. */
  readonly awaited?: readonly Awaited[]
  /** Attempts in a row that have written no result; left out where this one has. */
  readonly lapses?: number
  /** Pushes of this attempt, or of earlier ones, that the remote may still carry out. */
  readonly late?: LatePushes
  /** Neither this attempt nor one before it at this request has sent a push. Default: one may have. */
  readonly nothingPushed?: boolean
}

/** The status after a failure: Retrying with the time of the next attempt, or Failed. `resource` carries the claim. */
export function failed(resource: Envelope, failure: Failure, terms: FailureTerms): Status {
  const { now, limit, random, awaited = [], lapses = 0, late = {}, nothingPushed = false } = terms
  const attempts = resource.status?.attempts ?? 1
  const started = Date.parse(resource.status?.startedAt ?? '') || now.getTime()
  // The clock of the API server may have been set back, and whoever may write the status may write any time.
  const elapsedSeconds = Math.max(0, (now.getTime() - started) / 1000)
  const looks = awaited.length > 0
  // A retry keeps the conditions of the last failure.
  const reasonBefore = resource.status?.conditions?.find(({ type }) => type === 'Ready')?.reason
  const before = isFailureReason(reasonBefore) ? reasonBefore : undefined
  const delay = nextDelay(failure, { attempts, limit, elapsedSeconds, random, looks, before })
  const ends = typeof delay !== 'number'
  const { reason, message } = delay === 'exhausted' ? exhausted(failure, attempts) : failure
  const stalled = ends || failure.retry === 'slow'
  return {
    ...common(resource, ends ? 'Failed' : 'Retrying', attempts),
    conditions: conditionsOf(resource, now, {
      ready: 'False',
      progress: stalled ? 'Stalled' : 'Reconciling',
      reason,
      message,
      details: 'as before',
    }),
    ...times(resource),
    ...(ends ? {} : { nextAttemptTime: timestamp(later(now, delay)) }),
    ...(ends || !looks ? {} : { waitingFor: awaited }),
    ...(ends || lapses === 0 ? {} : { lapses }),
    ...(ends || !nothingPushed ? {} : nothingPushedUntil(resource)),
    ...latePushes(late.latePush, late.latePushTo),
    ...syncBefore(resource, true),
    ...resultBefore(resource),
  }
}

/** RFC 3339 with six digits of a second, as metav1.MicroTime; these are drawn. */
function microTime(at: Date, random: number): string {
  const micros = Math.floor(random * 1_000_000)
    .toString()
    .padStart(6, '0')
  return timestamp(at).replace('Z', `.${micros}Z`)
}

function exhausted(failure: Failure, attempts: number): Failure {
  const message = `Gave up after ${attempts} attempts; the last one ended with ${failure.reason}: ${failure.message}`
  return new Failure('RetryBudgetExhausted', message, { cause: failure })
}

function common(
  resource: Envelope,
  phase: Phase,
  attempts: number,
): Pick<Status, 'observedGeneration' | 'lastHandledRequestedAt' | 'phase' | 'attempts'> {
  const requested = requestedAt(resource)
  return {
    observedGeneration: resource.metadata.generation,
    ...(requested === undefined ? {} : { lastHandledRequestedAt: requested }),
    // An attempt that was under way when the resource was suspended writes its result.
    phase: resource.suspended === true ? 'Suspended' : phase,
    attempts,
  }
}

type Result = Pick<Status, 'commit' | 'pullRequest'>

/** The last commit, or the pull request, stays in the status until there is a newer one. */
function resultBefore(resource: Envelope): Result {
  return resultOf(resource.status ?? {})
}

function resultOf({ commit, pullRequest }: Result): Result {
  return {
    ...(commit === undefined ? {} : { commit }),
    ...(pullRequest === undefined ? {} : { pullRequest }),
  }
}

function times(resource: Envelope): Pick<Status, 'startedAt' | 'lastAttemptTime'> {
  const { startedAt, lastAttemptTime } = resource.status ?? {}
  return {
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(lastAttemptTime === undefined ? {} : { lastAttemptTime }),
  }
}

/** Rounded up to a whole second, so never earlier. */
function later(from: Date, seconds: number): Date {
  return new Date(Math.ceil(from.getTime() / 1000 + seconds) * 1000)
}
