import { notUnderstood } from '../api-failure.ts'
import type { ErrorContext } from '../api-failure.ts'
import { apiCaller } from '../api-caller.ts'
import type { ApiAnswer } from '../api-answer.ts'
import type { ApiLogin } from '../../domain/credentials/login.ts'
import { member, textMember } from '../../domain/json-value.ts'
import type { Endpoint, ShownPullRequest } from '../../domain/pull-request/pull-requests.ts'
import { shownOf } from './pull-request.ts'
import { bitbucketFailure, reviewersRefused } from './errors.ts'

/** One repository on Bitbucket Cloud, and the function that calls its API. */
export interface Repository {
  readonly baseURL: string
  /** Its address at the API. */
  readonly url: string
  /** Address of its pull requests at the API. */
  readonly pullRequestsURL: string
  readonly context: ErrorContext
  /** Returns the answer for any status. */
  readonly ask: (method: string, url: string, content?: unknown) => Promise<ApiAnswer>
  /** As in Endpoint. */
  readonly pass: NonNullable<Endpoint['pass']>
}

/** One page of a list. */
export interface Page {
  readonly answer: ApiAnswer
  readonly values: readonly unknown[]
  /** Whether there are more pages, which are not read. */
  readonly isCut: boolean
}

/** Maximum number of pages that are read of a list. */
const MOST_PAGES = 10
/**
 * Each pull request contains its body five times: with the longest bodies, hardly more fit into the limit of an answer.
 */
const PAGE_LENGTH = 20
/** A workspace's slug and a repository's. */
const FULL_NAME = /^[\w.-]{1,256}\/[\w.-]{1,256}$/

/** The repository of `endpoint`. Sends no request yet. */
export function repositoryAt(endpoint: Endpoint, login: ApiLogin): Repository {
  const { baseURL, pass = () => Promise.resolve(false) } = endpoint
  // Bitbucket's slugs and UUIDs (in braces) are in lower case.
  const segments = endpoint.repository.map((segment) => encodeURIComponent(segment.toLowerCase()))
  const url = `${baseURL}/repositories/${segments.join('/')}`
  return { baseURL, url, pullRequestsURL: `${url}/pullrequests`, pass, ...apiCaller(endpoint, login) }
}

/** Whether workspace or repository are called by UUIDs, which stand in braces. */
export function isByUUID(path: readonly string[]): boolean {
  return path.some((segment) => segment.startsWith('{'))
}

/** The slugs of workspace and repository. Source: Bitbucket's REST API, "Get a repository" and "Partial responses". */
export async function slugsOf({ ask, url, context }: Repository): Promise<readonly string[]> {
  const answer = await ask('GET', `${url}?fields=full_name`)
  const name = answer.status === 200 ? textMember(answer.data, 'full_name') : undefined
  if (name === undefined || !FULL_NAME.test(name)) throw bitbucketFailure(answer, context)
  return name.split('/')
}

/** The pages of the list of pull requests that match `q`, newest first, ten at most, one at a time. */
export async function* pagesOf(repository: Repository, q: string): AsyncGenerator<Page> {
  const { ask, pullRequestsURL, context } = repository
  const query = new URLSearchParams({ q, sort: '-created_on', pagelen: String(PAGE_LENGTH) })
  let next: string | undefined = `${pullRequestsURL}?${query.toString()}`
  for (let page = 1; next !== undefined && page <= MOST_PAGES; page += 1) {
    const answer = await ask('GET', next)
    const values = answer.status === 200 ? member(answer.data, 'values') : undefined
    if (!Array.isArray(values)) throw bitbucketFailure(answer, context)
    if (values.length > PAGE_LENGTH) throw notUnderstood(answer, context)
    next = nextPage(answer, repository)
    yield { answer, values, isCut: page === MOST_PAGES && next !== undefined }
  }
}

function nextPage(answer: ApiAnswer, { baseURL, context }: Repository): string | undefined {
  const next = textMember(answer.data, 'next')
  if (next === undefined) return undefined
  const url = URL.parse(next)
  // The request contains the credentials.
  if (url === null || !`${url.origin}${url.pathname}`.startsWith(`${baseURL}/repositories/`))
    throw notUnderstood(answer, context)
  return url.href
}

/** The pull request of this number in an answer. Throws the Failure for an answer that does not show it. */
export function numbered(number: number, answer: ApiAnswer, repository: Repository): ShownPullRequest {
  const { baseURL, context } = repository
  const pull = answer.status === 200 ? shownOf(answer.data, baseURL) : undefined
  if (pull?.number !== number) throw bitbucketFailure(answer, context)
  return pull
}

/** Writes all fields of a pull request. Returns Bitbucket's message if it does not accept the reviewers. */
export async function write(
  repository: Repository,
  number: number,
  content: Readonly<Record<string, unknown>>,
): Promise<string | undefined> {
  const answer = await repository.ask('PUT', `${repository.pullRequestsURL}/${number}`, content)
  const refused = reviewersRefused(answer)
  if (refused === undefined) numbered(number, answer, repository)
  return refused
}
