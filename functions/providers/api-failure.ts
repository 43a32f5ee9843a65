import { readable, retryAfterOf, textOf } from './api-answer.ts'
import type { ApiAnswer } from './api-answer.ts'
import { Failure } from '../domain/failure.ts'
import type { Branches } from '../domain/pull-request/pull-requests.ts'
import { redact } from '../domain/redact.ts'

/** Which API answered, and the secrets that must be masked in its messages. */
export interface ErrorContext {
  /** `spec.repository`. */
  readonly shown: string
  readonly secrets: readonly string[]
}

/** Pause in seconds if a host that limits requests names none (GitHub's advice for secondary rate limits). */
const USUAL_RETRY_AFTER_S = 60
/** Names of scopes and permissions, as hosts write them. */
const SCOPES = /^[A-Za-z0-9_:.=;,/ -]{1,200}$/
/** The statuses with which hosts refuse what they are sent. */
const OF_CONTENT = new Set([400, 409, 413, 422])
/** What an answer other than success means on any host; a provider first checks for messages of its host. */
export function answerFailure(answer: ApiAnswer, context: ErrorContext): Failure {
  const { shown } = context
  const { status } = answer
  if (status < 300) return notUnderstood(answer, context)
  if (status < 400) return moved(context)
  if (status === 401)
    return new Failure(
      'AuthenticationFailed',
      `The API of ${shown} does not accept the token, or the user name and password (401); put valid ones into the Secret.`,
    )
  if (status === 403) return forbidden(context)
  if (status === 404 || status === 410)
    return new Failure(
      'RepositoryNotFound',
      `The API reports that ${shown} does not exist, or is not visible with these credentials, which hosts do not distinguish (${status}); check the address and the rights of the token.`,
    )
  if (status === 423) return archived(context)
  if (status === 429) return rateLimited(answer, context)
  if (status === 408 || status >= 500) return unavailable(answer, context)
  const refused = rejected(textOf(answer.data), status, context)
  if (OF_CONTENT.has(status)) return refused
  // Gateways answer so to whom they have banned for a while, whatever was asked.
  return new Failure(refused.reason, refused.message, { retry: 'slow' })
}

/** 403 without a message that explains it. */
export function forbidden({ shown }: ErrorContext): Failure {
  const message = `The API of ${shown} knows the user but does not permit this (403); give the token the right to open pull requests there, and check whether the repository is archived.`
  return new Failure('PermissionDenied', message)
}

/** The token lacks a scope or permission, which is named if the host has reported it in a form that can be shown. */
export function missingScope(needed: string | undefined, { shown, secrets }: ErrorContext): Failure {
  const scope = needed !== undefined && SCOPES.test(needed) ? redact(needed, secrets) : undefined
  const named = scope === undefined || scope === '' ? 'the scope' : `"${scope}"`
  return new Failure(
    'PermissionDenied',
    `The token lacks ${named} that the API of ${shown} requires (403); give the token that right, or put another token into the Secret.`,
  )
}

/** The repository is archived and accepts no changes. */
export function archived({ shown }: ErrorContext): Failure {
  const message = `${shown} is archived, so no pull request can be opened there; have it unarchived, or name another repository.`
  return new Failure('PermissionDenied', message)
}

/** The repository has moved; `path` is its new path, if the host names it. */
export function moved({ shown, secrets }: ErrorContext, path?: string): Failure {
  const newPath = path === undefined ? undefined : redact(path, secrets)
  const where = newPath === undefined || newPath === '' ? 'to another address' : `to ${newPath}`
  const message = `The API reports that ${shown} has moved ${where}, to which Commitlet does not send credentials; put the new address into spec.repository of a new PullRequest.`
  return new Failure('RepositoryNotFound', message)
}

/**
 * Too many requests. The pause is the host's: Retry-After (RFC 9110, 10.2.3), else the time of the reset in the header
 * `resetHeader` (seconds since 1970), measured by the host's clock; at most an hour.
 */
export function rateLimited(answer: ApiAnswer, { shown }: ErrorContext, resetHeader?: string): Failure {
  const seconds = retryAfterOf(answer, resetHeader) ?? USUAL_RETRY_AFTER_S
  const message = `The API of ${hostIn(shown)} asks for fewer requests with these credentials; Commitlet retries after the pause that it asks for.`
  return new Failure('RateLimited', message, { retryAfterSeconds: seconds })
}

// The limit applies to all users of the credentials, so the message names the host rather than a repository.
function hostIn(shown: string): string {
  const [, host = ''] = /^(?:[a-z]+:\/\/)?(?:[^@/]*@)?(\[[^\]/]*\]|[^:/]*)/.exec(shown) ?? []
  return host
}

/** The host cannot answer at the moment. */
export function unavailable(answer: ApiAnswer, { shown }: ErrorContext): Failure {
  const seconds = retryAfterOf(answer, undefined)
  const message = `The API of ${shown} cannot answer at the moment (${answer.status}); Commitlet retries automatically.`
  return new Failure(
    'ProviderUnavailable',
    message,
    seconds === undefined ? {} : { retryAfterSeconds: seconds },
  )
}

/** A success without the documented content: a web page of a proxy, or an incomplete answer. */
export function notUnderstood(answer: ApiAnswer, { shown }: ErrorContext): Failure {
  const page = typeof answer.data === 'string' && /^\s*<(?:!doctype|html)/i.test(readable(answer.data))
  const message = page
    ? `A web page came instead of an answer of the API of ${shown} (${answer.status}), perhaps that of a proxy or of a single sign-on; Commitlet retries automatically, and the administrator of the host or the proxy has to check it.`
    : `The API of ${shown} gave an answer that does not match its documentation (${answer.status}); Commitlet retries automatically.`
  return new Failure('ProviderUnavailable', message)
}

/** The host refuses the pull request permanently, with a message of its own. */
export function rejected(
  words: string | undefined,
  status: number,
  { shown, secrets }: ErrorContext,
): Failure {
  const quoted = words === undefined ? '' : (redact(words, secrets) ?? '')
  const why = quoted === '' ? ' without a reason; check its settings.' : `: "${quoted}"; fix what it names.`
  const message = `${shown} refuses the pull request (${status})${why}`
  return new Failure('PullRequestRejected', message)
}

/** A branch does not exist (yet). */
export function branchMissing(
  which: 'head' | 'base' | 'unknown',
  { base, head }: Branches,
  shown: string,
): Failure {
  const names = { head: `the branch ${head}`, base: `the branch ${base}`, unknown: `${head} or ${base}` }
  const message = `${shown} does not have ${names[which]} (yet), which the pull request needs; push it, and Commitlet retries automatically.`
  return new Failure('HeadNotFound', message)
}

/** Both branches exist, and the head has no commit that the base does not have. */
export function nothingToMerge({ base, head }: Branches, shown: string): Failure {
  const message = `The branch ${head} has no commit that ${base} of ${shown} does not have; push one, and Commitlet retries automatically.`
  return new Failure('NothingToMerge', message)
}

/**
 * The list of pull requests with these branches is longer than the limit, and none that was read is of the repository
 * itself.
 */
export function outOfSight({ base, head }: Branches, shown: string): Failure {
  const message = `${shown} lists more pull requests from ${head} to ${base} than Commitlet reads, and all that it has read are from forks, so it does not know whether the repository itself has one; close those of forks, and Commitlet retries automatically.`
  return new Failure('Conflict', message)
}
