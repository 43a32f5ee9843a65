import { readable, textOf, wordsMember } from '../api-answer.ts'
import type { ApiAnswer } from '../api-answer.ts'
import {
  answerFailure,
  branchMissing,
  forbidden,
  missingScope,
  notUnderstood,
  nothingToMerge,
  rateLimited,
} from '../api-failure.ts'
import type { ErrorContext } from '../api-failure.ts'
import { Failure } from '../../domain/failure.ts'
import { elements, entries, member } from '../../domain/json-value.ts'
import type { Branches } from '../../domain/pull-request/pull-requests.ts'
import { redact } from '../../domain/redact.ts'

/** How many texts of one list are read, such as scopes. */
const MOST_TEXTS = 50

/**
 * What an unexpected answer of Bitbucket means. Its errors are
 * `{"type": "error", "error": {"message", "detail", "fields"}}`, or a text (429).
 */
export function bitbucketFailure(answer: ApiAnswer, context: ErrorContext): Failure {
  const { status } = answer
  const words = wordsOf(answer)
  if (status < 300) return notUnderstood(answer, context)
  if (status === 401) return unauthenticated(context)
  if (status === 429 || (status === 403 && /^rate limit/i.test(words ?? ''))) return limited(answer, context)
  if (status === 403) return refused(answer, context)
  return answerFailure({ ...answer, data: { message: words } }, context)
}

/** The same for the creation of a pull request. */
export function creationFailure(answer: ApiAnswer, branches: Branches, context: ErrorContext): Failure {
  if (answer.status !== 400) return bitbucketFailure(answer, context)
  const messages = messagesOf(answer)
  if (messages.some((words) => /there are no changes to be pulled/i.test(words)))
    return nothingToMerge(branches, context.shown)
  const missing = messages.filter((words) => /branch not found/i.test(words))
  if (missing.some((words) => words.startsWith('source')))
    return branchMissing('head', branches, context.shown)
  if (missing.some((words) => words.startsWith('destination')))
    return branchMissing('base', branches, context.shown)
  if (missing.length > 0) return branchMissing('unknown', branches, context.shown)
  return bitbucketFailure(answer, context)
}

/** Bitbucket's message if it does not accept the reviewers; undefined: the answer means something else. */
export function reviewersRefused(answer: ApiAnswer): string | undefined {
  if (answer.status !== 400) return undefined
  return messagesOf(answer).find((words) => words.startsWith('reviewers:'))
}

/** Bitbucket no longer accepts the existing reviewers of a pull request, so no field of it can be changed. */
export function staleReviewers(number: number, words: string, { shown, secrets }: ErrorContext): Failure {
  const message = `Bitbucket refuses to change #${number} of ${shown} because of its reviewers: "${redact(words, secrets) ?? ''}"; remove the reviewers who are no longer active or no longer in the workspace.`
  return new Failure('PullRequestRejected', message)
}

function unauthenticated({ shown }: ErrorContext): Failure {
  const message = `Bitbucket does not accept the credentials for ${shown} (401); put an access token alone into the Secret, or an API token with the e-mail address of its Atlassian account as user name (app passwords do not work any more since July 2026).`
  return new Failure('AuthenticationFailed', message)
}

/** `write` does not imply `read` among the scopes of API tokens, so each that is missing is named. */
function refused(answer: ApiAnswer, context: ErrorContext): Failure {
  const detail = member(member(answer.data, 'error'), 'detail')
  const required = textsOf(member(detail, 'required'))
  const granted = textsOf(member(detail, 'granted'))
  const lacking = required.filter((scope) => !granted.includes(scope))
  if (required.length > 0) return missingScope((lacking.length > 0 ? lacking : required).join(', '), context)
  const words = wordsOf(answer) ?? ''
  if (/privilege scopes/i.test(words)) return missingScope(undefined, context)
  const quoted = redact(words, context.secrets) ?? ''
  if (quoted === '' || /^(?:forbidden|access denied)\.?$/i.test(quoted)) return forbidden(context)
  const message = `The API of ${context.shown} does not permit this (403): "${quoted}"; fix what it names, and give the token the right to open pull requests there.`
  return new Failure('PermissionDenied', message)
}

/** Measured on the live API: X-RateLimit-Reset is the number of seconds that are left, not a time. */
function limited(answer: ApiAnswer, context: ErrorContext): Failure {
  const { headers } = answer
  const left = headers.get('retry-after') ?? headers.get('x-ratelimit-reset')
  const relative = { get: (name: string) => (name === 'retry-after' ? left : headers.get(name)) }
  return rateLimited({ ...answer, headers: relative }, context)
}

function wordsOf({ data }: ApiAnswer): string | undefined {
  return typeof data === 'string' ? textOf(data) : wordsMember(member(data, 'error'), 'message')
}

/** The message of each field as `field: message`, and the message of the answer. */
function messagesOf(answer: ApiAnswer): readonly string[] {
  const fields = entries(member(member(answer.data, 'error'), 'fields'))
  const each = fields.flatMap(([field, said]) =>
    (typeof said === 'string' ? [readable(said)] : textsOf(said)).map((words) => `${field}: ${words}`),
  )
  return [...each, wordsOf(answer) ?? '']
}

function textsOf(value: unknown): readonly string[] {
  const texts = elements(value).filter((one) => typeof one === 'string')
  return texts.slice(0, MOST_TEXTS).map(readable)
}
