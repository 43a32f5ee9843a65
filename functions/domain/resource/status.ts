import { conditionsOf, timestamp } from './conditions.ts'
import type { DetailsReading } from './conditions.ts'
import { mayHavePushed, requestedAt } from './attempt-state.ts'
import { Failure } from '../failure.ts'
import type { CommitStatus, Envelope, Phase, PullRequestStatus, Status } from './resource.ts'
import { nextDelay } from './backoff.ts'

/** A claim outlives the attempt's deadline by this much: time for the last write. */
const CLAIM_MARGIN_S = 10

/** What an attempt found out. `UpToDate`: the remote already stood as it is wanted. */
export interface Outcome {
  readonly reason: 'Succeeded' | 'UpToDate'
  readonly message: string
  readonly credentialsUsed: 'Primary' | 'Fallback' | 'Default'
  /** Of a GitCommit. */
  readonly commit?: CommitStatus
  /** Of a PullRequest. */
  readonly pullRequest?: PullRequestStatus
  /** What became of its labels, reviewers and assignees, where it names any. `as before`: they were not touched. */
  readonly details?: DetailsReading | 'as before' | undefined
}

export interface ClaimTerms {
  readonly now: Date
  /** ATTEMPT_DEADLINE. */
  readonly deadlineSeconds: number
  /** A number from 0 to 1, drawn anew for each claim. */
  readonly random: number
}

/**
 * The status with which an attempt begins. It keeps the conditions of the failure that it tries to overcome.
 * No two claims are equal: `lastAttemptTime` has a random fraction of a second (metav1.MicroTime).
 */
export function claimed(resource: Envelope, { now, deadlineSeconds, random }: ClaimTerms): Status {
  const again = mayHavePushed(resource)
  const before = resource.status
  const attempts = again ? (before?.attempts ?? 0) + 1 : 1
  const conditions =
    again && before?.conditions !== undefined && before.conditions.length > 0
      ? before.conditions
      : conditionsOf(resource, now, {
          ready: 'Unknown',
          besides: 'Reconciling',
          reason: 'Progressing',
          message: 'The first attempt is under way.',
          details: 'as before',
        })
  return {
    ...common(resource, 'Progressing', attempts),
    conditions,
    startedAt: again && before?.startedAt !== undefined ? before.startedAt : timestamp(now),
    lastAttemptTime: marked(now, random),
    nextAttemptTime: timestamp(later(now, deadlineSeconds + CLAIM_MARGIN_S)),
    ...kept(resource),
  }
}

/** The status of a resource that stands on the remote as it is wanted. `resource` carries the claim. */
export function succeeded(resource: Envelope, outcome: Outcome, now: Date): Status {
  return {
    ...common(resource, 'Succeeded', resource.status?.attempts ?? 1),
    conditions: conditionsOf(resource, now, {
      ready: 'True',
      reason: outcome.reason,
      message: outcome.message,
      details: outcome.details,
    }),
    ...times(resource),
    credentialsUsed: outcome.credentialsUsed,
    ...shown(outcome),
  }
}

/** The status after a failure: Retrying with its next time, or Failed. `resource` carries the claim. */
export function failed(
  resource: Envelope,
  failure: Failure,
  when: { readonly now: Date; readonly limit: number; readonly random: number },
): Status {
  const attempts = resource.status?.attempts ?? 1
  const started = Date.parse(resource.status?.startedAt ?? '') || when.now.getTime()
  const elapsedSeconds = (when.now.getTime() - started) / 1000
  const delay = nextDelay(failure, { attempts, limit: when.limit, elapsedSeconds, random: when.random })
  const ends = typeof delay !== 'number'
  const told = delay === 'exhausted' ? exhausted(failure, attempts) : failure
  const stalled = ends || failure.retry === 'slow'
  return {
    ...common(resource, ends ? 'Failed' : 'Retrying', attempts),
    conditions: conditionsOf(resource, when.now, {
      ready: 'False',
      besides: stalled ? 'Stalled' : 'Reconciling',
      reason: told.reason,
      message: told.message,
      details: 'as before',
    }),
    ...times(resource),
    ...(ends ? {} : { nextAttemptTime: timestamp(later(when.now, delay)) }),
    ...kept(resource),
  }
}

function marked(at: Date, random: number): string {
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
    phase,
    attempts,
  }
}

/** The last commit, or the pull request, stays on show until there is a newer one. */
function kept(resource: Envelope): Shown {
  return shown(resource.status ?? {})
}

type Shown = Pick<Status, 'commit' | 'pullRequest'>

function shown({ commit, pullRequest }: Shown): Shown {
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

/** Never earlier than asked: the whole second that follows. */
function later(from: Date, seconds: number): Date {
  return new Date(Math.ceil(from.getTime() / 1000 + seconds) * 1000)
}
