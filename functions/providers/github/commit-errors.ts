import { Failure } from '../../domain/failure.ts'
import { elements, member, textMember } from '../../domain/json-value.ts'
import { redact } from '../../domain/redact.ts'
import { wordsMember, type ApiAnswer } from '../api-answer.ts'
import { rateLimited, unavailable } from '../api-failure.ts'
import { githubFailure, wordsOf, type GitHubErrorContext } from './errors.ts'

/** Whether the error of an answer says that the branch was not at `expectedHeadOid`, or is gone. */
export function isRace(error: unknown): boolean {
  const words = wordsMember(error, 'message') ?? ''
  return textMember(error, 'type') === 'STALE_DATA' || /Expected branch to point to|No ref named/i.test(words)
}

/** What an answer with another status than 200 to the request for a commit means. */
export function refusedRequest(answer: ApiAnswer, context: GitHubErrorContext): Failure {
  const usual = githubFailure(answer, context)
  const words = wordsOf(answer.data)
  if (usual.reason === 'PullRequestRejected') return rejected(words, context)
  const isSpecial = answer.headers.get('x-github-sso') !== null || SPECIAL.test(words ?? '')
  if (usual.reason !== 'PermissionDenied' || isSpecial) return usual
  return denied(words, context)
}

/**
 * What the errors of an answer with the status 200 mean, by the type of the first. Source: GitHub's GraphQL documentation,
 * "Rate limits and query limits for the GraphQL API", and the messages of GitHub's answers.
 */
export function refusedCommit(answer: ApiAnswer, context: GitHubErrorContext): Failure {
  const [error] = elements(member(answer.data, 'errors'))
  const type = textMember(error, 'type')
  const words = wordsOf(answer.data)
  if (type === 'RATE_LIMITED') return rateLimited(answer, context, 'x-ratelimit-reset')
  if (type === 'FORBIDDEN' || type === 'INSUFFICIENT_SCOPES') return denied(words, context)
  if (type === 'NOT_FOUND') return invisible(context)
  // A query that took too long has no type; what it began may still be carried out.
  if (type === undefined || type === 'INTERNAL' || type === 'SERVICE_UNAVAILABLE')
    return unavailable(answer, context)
  return rejected(words, context)
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

function rejected(words: string | undefined, context: GitHubErrorContext): Failure {
  const message = `${context.shown} refuses the commit by its API${quoted(words, context)}; fix what it names, or choose another branch.`
  return new Failure('PushRejected', message)
}

function quoted(words: string | undefined, { secrets }: GitHubErrorContext): string {
  const shown = words === undefined ? '' : (redact(words, secrets) ?? '')
  return shown === '' ? '' : `: "${shown}"`
}
