import type { DetailsResult } from '../domain/resource/conditions.ts'
import { Failure } from '../domain/failure.ts'
import type { PullRequestDetails, PullRequests } from '../domain/pull-request/pull-requests.ts'
import { REQUESTED_AT } from '../domain/resource/resource.ts'
import type { PullRequest } from '../domain/resource/resource.ts'
import type { Outcome } from '../domain/resource/status.ts'

const DETAILS = ['labels', 'reviewers', 'assignees'] as const

/**
 * Adds the labels, reviewers and assignees of the spec to the pull request with this number, once for each generation:
 * what somebody takes away later stays away. What cannot be added is told, and fails nothing. Undefined: the spec
 * names none. Throws what is no Failure: a bug.
 */
export async function applyDetails(
  number: number,
  resource: PullRequest,
  pullRequests: PullRequests,
): Promise<Outcome['details']> {
  const asked = askedDetails(resource)
  if (asked === undefined) return undefined
  if (areApplied(resource)) return 'as before'
  const complaints: string[] = []
  const wanted = DETAILS.filter((detail) => asked[detail].length > 0)
  for (const [index, detail] of wanted.entries()) {
    const said = await pullRequests.add(number, detail, asked[detail]).catch(asFailureAlone)
    if (said instanceof Failure && said.retry === 'transient') {
      // The others would meet the same. A limit is not passed on to the brake: the next call with this token meets it.
      complaints.push(broken(detail, said, wanted.slice(index + 1)))
      break
    }
    complaints.push(...(said instanceof Failure ? [notAdded(detail, said)] : said))
  }
  return complaints.length === 0 ? APPLIED : notApplied(complaints)
}

/** What is said of them where somebody else has opened the pull request. Undefined: the spec names none. */
export function detailsLeft(resource: PullRequest): Outcome['details'] {
  if (askedDetails(resource) === undefined) return undefined
  const message =
    'The pull request does not carry the mark of this PullRequest: its labels, reviewers and assignees are left as they are.'
  return { applied: 'False', reason: 'NotOurs', message }
}

const APPLIED: DetailsResult = {
  applied: 'True',
  reason: 'Applied',
  message: 'Labels, reviewers and assignees are those of the spec, or more.',
}

function askedDetails({ spec }: PullRequest): PullRequestDetails | undefined {
  const { labels = [], reviewers = [], assignees = [] } = spec
  const asked = labels.length + reviewers.length + assignees.length > 0
  return asked ? { labels, reviewers, assignees } : undefined
}

function areApplied({ metadata, status }: PullRequest): boolean {
  const before = status?.conditions?.find(({ type }) => type === 'DetailsApplied')
  return before?.status === 'True' && before.observedGeneration === metadata.generation
}

function notApplied(complaints: readonly string[]): DetailsResult {
  const message = `${complaints.join(' ')} Ask again when that is mended (annotation ${REQUESTED_AT}), or add them by hand.`
  return { applied: 'False', reason: 'NotApplied', message }
}

function notAdded(detail: keyof PullRequestDetails, { reason, message }: Failure): string {
  return `The ${detail} could not be added (${reason}): ${message}`
}

// What passes by itself says that it is tried again, which is true of attempts alone.
function broken(
  detail: keyof PullRequestDetails,
  { reason }: Failure,
  left: readonly (keyof PullRequestDetails)[],
): string {
  const rest = left.length === 0 ? '' : `; the ${left.join(' and ')} were not tried`
  return `The ${detail} could not be added (${reason})${rest}.`
}

function asFailureAlone(error: unknown): Failure {
  if (error instanceof Failure) return error
  throw error
}
