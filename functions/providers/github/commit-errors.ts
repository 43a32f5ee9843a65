import { Failure } from '../../domain/failure.ts'
import { elements, member, textMember } from '../../domain/json-value.ts'
import type { Retry } from '../../domain/reasons.ts'
import { redact } from '../../domain/redact.ts'
import { isFull } from '../../domain/repository/size-limit.ts'
import { wordsMember, type ApiAnswer } from '../api-answer.ts'
import { notUnderstood, rateLimited, unavailable } from '../api-failure.ts'
import {
  githubFailure,
  isSpent,
  saysLimit,
  singleSignOn,
  wordsOf,
  type GitHubErrorContext,
} from './errors.ts'

/** Whether the error of an answer says that the branch was not at `expectedHeadOid`, or is gone. */
export function isRace(error: unknown): boolean {
  const words = wordsMember(error, 'message') ?? ''
  return (
    textMember(error, 'type') === 'STALE_DATA' ||
    /Expected branch to point to|No ref named|^Branch not found/i.test(words)
  )
}

/** What an answer with another status than 200 to the request for a commit means. */
export function refusedRequest(answer: ApiAnswer, context: GitHubErrorContext): Failure {
  const usual = githubFailure(answer, context)
  const words = wordsOf(answer.data)
  if (answer.status === 413) return tooLarge(context)
  if (usual.reason === 'PullRequestRejected') return rejected(words, answer, context, usual.retry)
  const isSpecial = answer.headers.get('x-github-sso') !== null || SPECIAL.test(words ?? '')
  if (usual.reason !== 'PermissionDenied' || isSpecial) return usual
  return denied(words, context)
}

/**
 * What an answer with the status 200 means that names no commit, by the type of its first error. Source: GitHub's GraphQL
 * documentation, "Rate limits and query limits for the GraphQL API" (a limit may have this status, too), and the messages
 * of GitHub's answers.
 */
export function refusedCommit(answer: ApiAnswer, context: GitHubErrorContext): Failure {
  const [error] = elements(member(answer.data, 'errors'))
  const type = textMember(error, 'type')
  const words = wordsOf(answer.data)
  const message = wordsMember(error ?? answer.data, 'message') ?? ''
  if (LIMITS.includes(type ?? '') || saysLimit(message)) return limited(answer, context)
  if (error === undefined) return notUnderstood(answer, context)
  if (member(member(error, 'extensions'), 'saml_failure') === true) return singleSignOn(answer, context)
  if (RULES.test(words ?? '')) return rejected(words, answer, context)
  if (type === 'FORBIDDEN' || type === 'INSUFFICIENT_SCOPES') return denied(words, context)
  if (type === 'NOT_FOUND') return invisible(context)
  if (type === undefined && isInvalid(error)) return rejected(words, answer, context)
  // A query that took too long has no type; what it began may still be carried out.
  if (type === undefined || type === 'INTERNAL' || type === 'SERVICE_UNAVAILABLE')
    return unavailable(answer, context)
  return rejected(words, answer, context)
}

/** Rules of the branch, which no permission of a token changes. */
const RULES = /protected branch|rule violations|through a pull request|authorized to push/i
/** The types of errors that are limits. */
const LIMITS = ['RATE_LIMITED', 'RATE_LIMIT']

/** Whether the query was refused before any of it was carried out. Source: the errors of GraphQL Ruby, which GitHub uses. */
function isInvalid(error: unknown): boolean {
  const extensions = member(error, 'extensions')
  return textMember(extensions, 'code') !== undefined || elements(member(extensions, 'problems')).length > 0
}

// These are about the host or the organisation, and githubFailure has a sentence for each.
const SPECIAL = /IP allow list|access blocked|disabled|account was suspended/i

function denied(words: string | undefined, context: GitHubErrorContext): Failure {
  const message = `The API of ${context.shown} does not permit this commit${quoted(words, context)}; give the token or the GitHub App write access to contents there.`
  return new Failure('PermissionDenied', message)
}

function invisible({ shown }: GitHubErrorContext): Failure {
  const message = `The API reports that ${shown} does not exist, or is not visible with these credentials; check the address and the rights of the token.`
  return new Failure('RepositoryNotFound', message)
}

function rejected(
  words: string | undefined,
  { status }: ApiAnswer,
  context: GitHubErrorContext,
  usual: Retry = 'never',
): Failure {
  const why = quoted(words, context)
  const ending =
    why === ''
      ? ` (${status}) without a reason; check the rules of the branch and the size of the files, or leave out spec.commitVia.`
      : `${why}; fix what it names, choose another branch, or leave out spec.commitVia.`
  const retry = isFull(words ?? '') ? 'slow' : usual
  return new Failure('PushRejected', `${context.shown} refuses the commit by its API${ending}`, { retry })
}

function tooLarge({ shown }: GitHubErrorContext): Failure {
  const message = `The API of ${shown} takes no commit of this size (413); write fewer or smaller files in one GitCommit, or leave out spec.commitVia.`
  return new Failure('PushRejected', message)
}

/** The reset is that of the primary limit, which is used up only where the other header says so. */
function limited(answer: ApiAnswer, context: GitHubErrorContext): Failure {
  return rateLimited(answer, context, isSpent(answer) ? 'x-ratelimit-reset' : undefined)
}

function quoted(words: string | undefined, { secrets }: GitHubErrorContext): string {
  const shown = words === undefined ? '' : (redact(words, secrets) ?? '')
  return shown === '' ? '' : `: "${shown}"`
}
