import { notUnderstood } from '../api-failure.ts'
import type { ErrorContext } from '../api-failure.ts'
import { apiCaller } from '../api-caller.ts'
import type { ApiAnswer } from '../api-answer.ts'
import type { ApiLogin } from '../../domain/credentials/login.ts'
import { member, textMember } from '../../domain/json-value.ts'
import type { Endpoint, ShownPullRequest } from '../../domain/pull-request/pull-requests.ts'
import { shownOf } from './pull-request.ts'
import { bitbucketFailure, reviewersRefused } from './errors.ts'

/** One repository on Bitbucket Cloud, and how it is asked. */
export interface Repository {
  readonly baseURL: string
  /** Address of its pull requests at the API. */
  readonly place: string
  readonly context: ErrorContext
  /** Any status is answered. */
  readonly ask: (method: string, url: string, content?: unknown) => Promise<ApiAnswer>
}

/** One page of a list. */
export interface Page {
  readonly answer: ApiAnswer
  readonly values: readonly unknown[]
  /** There are more, which are not read. */
  readonly isCut: boolean
}

/** Most that are read of a list. */
const MOST_PAGES = 10
/** Each shows its body in five places: of the longest bodies hardly more fit into an answer that is read. */
const PAGE_LENGTH = 20

/** The repository that `endpoint` is about. Nothing is asked yet. */
export function repositoryAt(endpoint: Endpoint, login: ApiLogin): Repository {
  const { baseURL } = endpoint
  // Bitbucket writes its slugs, and its UUIDs in braces, in small letters.
  const segments = endpoint.repository.map((segment) => encodeURIComponent(segment.toLowerCase()))
  const place = `${baseURL}/repositories/${segments.join('/')}/pullrequests`
  return { baseURL, place, ...apiCaller(endpoint, login) }
}

/** The pages of the list of pull requests that fit `q`, newest first, ten at most, one at a time. */
export async function* pagesOf(repository: Repository, q: string): AsyncGenerator<Page> {
  const { ask, place, context } = repository
  const query = new URLSearchParams({ q, sort: '-created_on', pagelen: String(PAGE_LENGTH) })
  let next: string | undefined = `${place}?${query.toString()}`
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
  // The credentials go with it.
  if (url === null || !`${url.origin}${url.pathname}`.startsWith(`${baseURL}/repositories/`))
    throw notUnderstood(answer, context)
  return url.href
}

/** The pull request of this number out of an answer. Throws what an answer means that does not show it. */
export function numbered(number: number, answer: ApiAnswer, repository: Repository): ShownPullRequest {
  const { baseURL, context } = repository
  const pull = answer.status === 200 ? shownOf(answer.data, baseURL) : undefined
  if (pull?.number !== number) throw bitbucketFailure(answer, context)
  return pull
}

/** Writes all of a pull request. Answers Bitbucket's words where it does not take the reviewers. */
export async function write(
  repository: Repository,
  number: number,
  content: Readonly<Record<string, unknown>>,
): Promise<string | undefined> {
  const answer = await repository.ask('PUT', `${repository.place}/${number}`, content)
  const refused = reviewersRefused(answer)
  if (refused === undefined) numbered(number, answer, repository)
  return refused
}
