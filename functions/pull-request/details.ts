import type { DetailsResult } from '../domain/resource/conditions.ts'
import { requestGeneration } from '../domain/resource/attempt-state.ts'
import { Failure } from '../domain/failure.ts'
import type { PullRequestDetails, PullRequests } from '../domain/pull-request/pull-requests.ts'
import { REQUESTED_AT } from '../domain/resource/api-names.ts'
import type { PullRequest } from '../domain/resource/resource.ts'
import type { Outcome } from '../domain/resource/status.ts'

const DETAILS = ['labels', 'reviewers', 'assignees'] as const

/**
 * Adds the labels, reviewers and assignees of the spec to the pull request with this number, once for each generation:
 * what a user removes later is not added again. What cannot be added is reported and does not fail the attempt.
 * Undefined if the spec names none. Throws only errors that are not a Failure, which are bugs.
 */
export async function applyDetails(
  number: number,
  resource: PullRequest,
  pullRequests: PullRequests,
): Promise<Outcome['details']> {
  const requested = requestedDetails(resource)
  if (requested === undefined) return undefined
  if (areApplied(resource)) return 'as before'
  const problems: string[] = []
  const wanted = DETAILS.filter((detail) => requested[detail].length > 0)
  for (const [index, detail] of wanted.entries()) {
    const result = await pullRequests.add(number, detail, requested[detail]).catch(asFailureAlone)
    if (result instanceof Failure && result.retry === 'transient') {
      // The other details would fail the same way. The rate limits are not updated here: the next call does that.
      problems.push(interrupted(detail, result, wanted.slice(index + 1)))
      break
    }
    problems.push(...(result instanceof Failure ? [notAdded(detail, result)] : result))
  }
  return problems.length === 0 ? APPLIED : notApplied(problems)
}

/** The result where someone else opened the pull request. Undefined if the spec names no details. */
export function detailsLeft(resource: PullRequest): Outcome['details'] {
  if (requestedDetails(resource) === undefined) return undefined
  const message =
    'The pull request does not have the marker of this PullRequest; its labels, reviewers and assignees are left unchanged.'
  return { applied: 'False', reason: 'NotOurs', message }
}

const APPLIED: DetailsResult = {
  applied: 'True',
  reason: 'Applied',
  message: 'The pull request has all labels, reviewers and assignees of the spec.',
}

function requestedDetails({ spec }: PullRequest): PullRequestDetails | undefined {
  const { labels = [], reviewers = [], assignees = [] } = spec
  const isRequested = labels.length + reviewers.length + assignees.length > 0
  return isRequested ? { labels, reviewers, assignees } : undefined
}

function areApplied({ metadata, status }: PullRequest): boolean {
  const before = status?.conditions?.find(({ type }) => type === 'DetailsApplied')
  return before?.status === 'True' && before.observedGeneration >= requestGeneration(metadata)
}

function notApplied(problems: readonly string[]): DetailsResult {
  const message = `${problems.join(' ')} When that is fixed, request the PullRequest again (annotation ${REQUESTED_AT}), or add them manually.`
  return { applied: 'False', reason: 'NotApplied', message }
}

function notAdded(detail: keyof PullRequestDetails, { reason, message }: Failure): string {
  return `The ${detail} could not be added (${reason}): ${message}`
}

// The message of a transient failure promises a retry, which only attempts get: it is left out.
function interrupted(
  detail: keyof PullRequestDetails,
  { reason }: Failure,
  remaining: readonly (keyof PullRequestDetails)[],
): string {
  const rest = remaining.length === 0 ? '' : `; the ${remaining.join(' and ')} were not tried`
  return `The ${detail} could not be added (${reason})${rest}.`
}

function asFailureAlone(error: unknown): Failure {
  if (error instanceof Failure) return error
  throw error
}
