import { retryAfterOf, textOf } from './api-answer.ts'
import type { ApiAnswer } from './api-answer.ts'
import { Failure } from '../domain/failure.ts'
import type { Branches } from '../domain/pull-request/pull-requests.ts'
import { redact } from '../domain/redact.ts'

/** Whose API answered, and what must not be shown of what it says. */
export interface ErrorContext {
  /** `spec.repository`. */
  readonly shown: string
  readonly secrets: readonly string[]
}

/** Where a host that limits requests does not say for how long, in seconds (GitHub's advice for secondary limits). */
const USUAL_RETRY_AFTER_S = 60
/** Names of scopes and permissions, as hosts write them. */
const SCOPES = /^[A-Za-z0-9_:.=;,/ -]{1,200}$/
/** What an answer other than success means on any host; a provider looks for its host's own words first. */
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
      `The API says that ${shown} is not there, or not visible with these credentials, as hosts answer both alike (${status}); look at the address and at the rights of the token.`,
    )
  if (status === 423) return archived(context)
  if (status === 429) return rateLimited(answer, context)
  if (status === 408 || status >= 500) return unavailable(answer, context)
  return rejected(textOf(answer.data), status, context)
}

/** 403 without words that tell more. */
export function forbidden({ shown }: ErrorContext): Failure {
  const message = `The API of ${shown} knows the user but does not permit this (403); give the token the right to open pull requests there, and see whether the repository is archived.`
  return new Failure('PermissionDenied', message)
}

/** The token lacks a scope or permission, which is named where the host has said it in words that can be shown. */
export function missingScope(needed: string | undefined, { shown, secrets }: ErrorContext): Failure {
  const said = needed !== undefined && SCOPES.test(needed) ? redact(needed, secrets) : undefined
  const named = said === undefined || said === '' ? 'the scope' : `"${said}"`
  return new Failure(
    'PermissionDenied',
    `The token lacks ${named} that the API of ${shown} asks for (403); give the token that right, or put another one into the Secret.`,
  )
}

/** The repository takes no changes any more. */
export function archived({ shown }: ErrorContext): Failure {
  const message = `${shown} is archived, so that no pull request can be opened there; have it unarchived, or name another repository.`
  return new Failure('PermissionDenied', message)
}

/** The repository is somewhere else by now; `path` is its new one where the host names it. */
export function moved({ shown, secrets }: ErrorContext, path?: string): Failure {
  const said = path === undefined ? undefined : redact(path, secrets)
  const where = said === undefined || said === '' ? 'to another address' : `to ${said}`
  const message = `The API says that ${shown} has moved ${where}, where credentials do not follow; put the new address into spec.repository of a new PullRequest.`
  return new Failure('RepositoryNotFound', message)
}

/**
 * Too many requests. The host's own time counts: Retry-After (RFC 9110, 10.2.3), else the moment of the reset in a
 * header of the host's (seconds since 1970), by the host's own clock; at most an hour.
 */
export function rateLimited(answer: ApiAnswer, { shown }: ErrorContext, resetHeader?: string): Failure {
  const seconds = retryAfterOf(answer, resetHeader) ?? USUAL_RETRY_AFTER_S
  const message = `The API of ${hostIn(shown)} asks for fewer requests with these credentials; it is tried again after the pause that it asks for.`
  return new Failure('RateLimited', message, { retryAfterSeconds: seconds })
}

// The limit holds for all who use the credentials, and so does the sentence: it names nobody's repository.
function hostIn(shown: string): string {
  const [, host = ''] = /^(?:[a-z]+:\/\/)?(?:[^@/]*@)?(\[[^\]/]*\]|[^:/]*)/.exec(shown) ?? []
  return host
}

/** The host cannot answer for now. */
export function unavailable(answer: ApiAnswer, { shown }: ErrorContext): Failure {
  const seconds = retryAfterOf(answer, undefined)
  const message = `The API of ${shown} cannot answer at the moment (${answer.status}); it is tried again.`
  return new Failure(
    'ProviderUnavailable',
    message,
    seconds === undefined ? {} : { retryAfterSeconds: seconds },
  )
}

/** A success that does not hold what the host promises: a page of a proxy, or half an answer. */
export function notUnderstood(answer: ApiAnswer, { shown }: ErrorContext): Failure {
  const page = typeof answer.data === 'string' && /^\s*<(?:!doctype|html)/i.test(answer.data)
  const message = page
    ? `A web page came instead of an answer of the API of ${shown} (${answer.status}), perhaps that of a proxy or of a single sign-on; it is tried again, and whoever runs the host or the proxy has to look.`
    : `The API of ${shown} answered with something else than its description promises (${answer.status}); it is tried again.`
  return new Failure('ProviderUnavailable', message)
}

/** The host refuses it for good, in words of its own. */
export function rejected(
  words: string | undefined,
  status: number,
  { shown, secrets }: ErrorContext,
): Failure {
  const said = words === undefined ? undefined : redact(words, secrets)
  const isSaid = said !== undefined && said !== ''
  const quoted = isSaid ? `: "${said}"; fix what it names.` : ', without saying why; look at its settings.'
  const message = `${shown} does not take the pull request (${status})${quoted}`
  return new Failure('PullRequestRejected', message)
}

/** A branch is not there (yet). */
export function branchMissing(
  which: 'head' | 'base' | 'unknown',
  { base, head }: Branches,
  shown: string,
): Failure {
  const names = { head: `the branch ${head}`, base: `the branch ${base}`, unknown: `${head} or ${base}` }
  const message = `${shown} does not have ${names[which]} (yet) that the pull request is to join; it is tried again, so push it.`
  return new Failure('HeadNotFound', message)
}

/** Both branches are there, and the head holds nothing that the base does not. */
export function nothingToMerge({ base, head }: Branches, shown: string): Failure {
  const message = `The branch ${head} holds no commit that ${base} of ${shown} does not have; it is tried again, so push one.`
  return new Failure('NothingToMerge', message)
}

/** More of these branches are listed than are read, and none of those read is the repository's own. */
export function outOfSight({ base, head }: Branches, shown: string): Failure {
  const message = `${shown} lists more pull requests from ${head} to ${base} than Commitlet reads, and none of those that it has read is of the repository itself, so that one may be open which must not be changed; it is tried again, so close those of forks.`
  return new Failure('Conflict', message)
}
