import { readable, wordsMember } from '../api-answer.ts'
import type { ApiAnswer } from '../api-answer.ts'
import {
  answerFailure,
  archived,
  branchMissing,
  forbidden,
  missingScope,
  nothingToMerge,
  rateLimited,
  rejected,
} from '../api-failure.ts'
import type { ErrorContext } from '../api-failure.ts'
import { Failure } from '../../domain/failure.ts'
import { elements, member, textMember } from '../../domain/json-value.ts'
import type { Branches } from '../../domain/pull-request/pull-requests.ts'
import { redact } from '../../domain/redact.ts'

/** How many errors of one answer are shown. */
const MOST_ERRORS = 10

/** Which API answered. */
export interface GitHubErrorContext extends ErrorContext {
  readonly baseURL: string
}

/**
 * What an unexpected answer means on GitHub. Source: GitHub's documentation "Troubleshooting the REST API" and "Rate
 * limits for the REST API", and the messages of GitHub's answers.
 */
export function githubFailure(answer: ApiAnswer, context: GitHubErrorContext): Failure {
  const { status, headers } = answer
  const asksForSingleSignOn = headers.get('x-github-sso')?.startsWith('required') === true
  if ((status === 403 || status === 404) && asksForSingleSignOn) return singleSignOn(answer, context)
  if (status === 451) return blocked(answer, context)
  if (status === 403 || status === 429) return refusal(answer, context)
  const scope = status === 404 ? lackingScope(headers) : undefined
  if (scope !== undefined) return invisible(scope, context)
  const words = status === 422 ? wordsOf(answer.data) : undefined
  // Validation includes that what one creates does not come too fast.
  if (saysLimit(words ?? '')) return rateLimited(answer, context)
  if (status === 422) return rejected(words, status, context)
  return answerFailure(answer, context)
}

/** Why no pull request was opened; `exists`: one is open already. */
export function openingFailure(
  answer: ApiAnswer,
  branches: Branches,
  context: GitHubErrorContext,
): Failure | 'exists' {
  const errors = answer.status === 422 ? elements(member(answer.data, 'errors')) : []
  const says = (words: RegExp): boolean =>
    errors.some((error) => words.test(wordsMember(error, 'message') ?? ''))
  if (says(/^A pull request already exists for /)) return 'exists'
  const { head, headOwner } = branches
  const named = { ...branches, head: headOwner === undefined ? head : `${headOwner}:${head}` }
  const missing = missingBranch(errors)
  // For an empty repository GitHub reports both: missing commits, and no commits between the branches.
  if (missing !== undefined) return branchMissing(missing, named, context.shown)
  if (says(/^No commits between /)) return nothingToMerge(named, context.shown)
  if (says(/^not all refs are readable/i)) return unreadable(context)
  return githubFailure(answer, context)
}

/** Both branches may be there: GitHub reads them as the token may, which needs another permission than the pull request. */
function unreadable({ shown }: ErrorContext): Failure {
  const message = `The API of ${shown} does not let the token read the branches (422); give it the permission to read contents there, or put another token into the Secret.`
  return new Failure('PermissionDenied', message)
}

/** GitHub's own message: those of the single errors, else the message of the answer. */
export function wordsOf(data: unknown): string | undefined {
  const details = elements(member(data, 'errors')).slice(0, MOST_ERRORS).map(wordsOfError)
  const messages = details.filter((words) => words !== '')
  return messages.length > 0 ? messages.join('; ') : wordsMember(data, 'message')
}

function wordsOfError(error: unknown): string {
  if (typeof error === 'string') return readable(error)
  const parts = [wordsMember(error, 'field'), wordsMember(error, 'code')]
  return wordsMember(error, 'message') ?? parts.filter((part) => part !== undefined).join(' ')
}

function missingBranch(errors: readonly unknown[]): 'head' | 'base' | 'unknown' | undefined {
  const lacks = (fields: readonly string[]): boolean =>
    errors.some(
      (error) =>
        ['invalid', 'missing', 'missing_field'].includes(textMember(error, 'code') ?? '') &&
        fields.includes(textMember(error, 'field') ?? ''),
    )
  const head = lacks(['head', 'head_sha'])
  const base = lacks(['base', 'base_sha'])
  if (head && base) return 'unknown'
  if (head) return 'head'
  return base ? 'base' : undefined
}

/** 403 or 429: the message comes first, because every answer has the headers of the rate limits. */
function refusal(answer: ApiAnswer, context: GitHubErrorContext): Failure {
  const { status, headers } = answer
  const words = wordsMember(answer.data, 'message') ?? ''
  if (/was archived so is read-only/i.test(words)) return archived(context)
  if (/has an IP allow list enabled/i.test(words)) return notOnAllowList(context)
  if (/access blocked|(?:is|was|been) disabled|account was suspended/i.test(words))
    return blocked(answer, context)
  if (/^Resource not accessible by /i.test(words)) {
    const [first] = (headers.get('x-accepted-github-permissions') ?? '').split(';')
    return missingScope(first?.trim() === '' ? undefined : first?.trim(), context)
  }
  const spent = isSpent(answer)
  if (status === 429 || saysLimit(words) || spent || headers.get('retry-after') !== null)
    // The reset time is that of the primary (hourly) limit, not that of a secondary one.
    return rateLimited(answer, context, spent ? 'x-ratelimit-reset' : undefined)
  const scope = lackingScope(headers)
  return scope === undefined ? forbidden(context) : missingScope(scope, context)
}

/**
 * Whether a message says that a limit is reached. It begins with GitHub's words: what users call their rules, branches or
 * files may be anywhere behind them, and must not keep others from a token.
 */
export function saysLimit(message: string): boolean {
  return LIMIT.test(message)
}

const LIMIT =
  /^(?:You have (?:exceeded a secondary rate limit|triggered an abuse detection)|API rate limit (?:already )?exceeded|Maximum number of login attempts exceeded|was submitted too quickly)/i

/** Whether the primary (hourly) limit is used up. */
export function isSpent({ headers }: ApiAnswer): boolean {
  return headers.get('x-ratelimit-remaining')?.trim() === '0'
}

/**
 * The scopes, any of which is enough, that a classic token lacks; undefined: another kind of token, or none is lacking.
 */
function lackingScope(headers: ApiAnswer['headers']): string | undefined {
  const granted = headers.get('x-oauth-scopes')
  const accepted = scopesIn(headers.get('x-accepted-oauth-scopes') ?? '')
  if (granted === null || accepted.length === 0) return undefined
  const has = new Set(scopesIn(granted))
  if (accepted.some((scope) => has.has(scope))) return undefined
  const named = accepted.join(' or ')
  return /^[a-z_:, ]{1,200}$/.test(named) ? named : undefined
}

function scopesIn(header: string): readonly string[] {
  return header
    .split(',')
    .map((scope) => scope.trim())
    .filter((scope) => scope !== '')
}

/**
 * The organisation requires single sign-on. Does not show the address in the header: for an hour it acts on the account of
 * any user who opens it.
 */
export function singleSignOn({ status }: ApiAnswer, { shown, baseURL }: GitHubErrorContext): Failure {
  const message = `The organisation of ${shown} requires single sign-on, for which the token is not authorised (${status}); authorise the token for the organisation's single sign-on at ${siteOf(baseURL)}/settings/tokens.`
  return new Failure('PermissionDenied', message)
}

function notOnAllowList({ shown }: ErrorContext): Failure {
  const message = `The organisation of ${shown} has an IP allow list that does not contain the address of Commitlet (403); have that address added to it.`
  return new Failure('PermissionDenied', message)
}

function blocked({ status }: ApiAnswer, { shown, baseURL }: GitHubErrorContext): Failure {
  if (!isOfGitHub(baseURL)) {
    const message = `The GitHub Enterprise Server has blocked or disabled ${shown}, or the account of the token (${status}); its owner has to ask the administrator of that server for the reason.`
    return new Failure('PermissionDenied', message)
  }
  const message = `GitHub has blocked or disabled ${shown}, or the account of the token (${status}); its owner has to ask GitHub for the reason.`
  return new Failure('PermissionDenied', message)
}

function invisible(scope: string, { shown, secrets }: ErrorContext): Failure {
  const quoted = redact(scope, secrets) ?? '***'
  const message = `The API reports that ${shown} does not exist, or is not visible with these credentials (404), and the token lacks the required scope "${quoted}"; check the address, and give the token that scope.`
  return new Failure('RepositoryNotFound', message)
}

/** Whether it is GitHub's own service, github.com or *.ghe.com, rather than a GitHub Enterprise Server. */
export function isOfGitHub(baseURL: string): boolean {
  const { hostname } = new URL(baseURL)
  return hostname === 'api.github.com' || hostname.endsWith('.ghe.com')
}

/** Host, and port if any, of the web site: the API of GitHub's own service has the prefix `api.`. */
export function siteOf(baseURL: string): string {
  const { host } = new URL(baseURL)
  return isOfGitHub(baseURL) ? host.replace(/^api\./, '') : host
}
