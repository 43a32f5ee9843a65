import { apiCaller } from '../api-caller.ts'
import type { ApiAnswer } from '../api-answer.ts'
import { branchMissing, notUnderstood, nothingToMerge, rejected } from '../api-failure.ts'
import type { ErrorContext } from '../api-failure.ts'
import type { ApiLogin } from '../../domain/credentials/login.ts'
import type { Failure } from '../../domain/failure.ts'
import { member, textMember } from '../../domain/json-value.ts'
import type { Branches, Endpoint, ShownPullRequest } from '../../domain/pull-request/pull-requests.ts'
import { shrinkingPages } from '../shrinking-pages.ts'
import { shownOf } from './pull-request.ts'
import { giteaFailure, mayLackBranch, saysNoChanges } from './errors.ts'

/** Maximum number of pages that are read of a list. */
const MOST_PAGES = 10
/** An installation may have a lower limit (MAX_RESPONSE_ITEMS), and applies it without an error. */
const PAGE_LENGTH = 50
const SIZES = [PAGE_LENGTH, 10, 1]

/** One repository on Gitea or Forgejo, and the function that calls its API. */
export interface Repository {
  readonly baseURL: string
  readonly context: ErrorContext
  /** `path` is relative to the repository, with its query. Returns the answer for any status. */
  readonly ask: (method: string, path: string, content?: unknown) => Promise<ApiAnswer>
  readonly askForPage: (path: string) => Promise<ApiAnswer>
  /** As in Endpoint. */
  readonly pass: NonNullable<Endpoint['pass']>
}

/** One page of a list. */
export interface Page {
  readonly answer: ApiAnswer
  readonly values: readonly unknown[]
  /** Whether it is the last page. */
  readonly isLast: boolean
}

/** The repository of `endpoint`. Sends no request yet. */
export function repositoryAt(endpoint: Endpoint, login: ApiLogin): Repository {
  const { baseURL, pass = () => Promise.resolve(false) } = endpoint
  const { context, ask, askForPage } = apiCaller(endpoint, login)
  const root = `${baseURL}/repos/${endpoint.repository.map(encodeURIComponent).join('/')}`
  return {
    baseURL,
    context,
    ask: (method, path, content) => ask(method, `${root}${path}`, content),
    askForPage: (path) => askForPage(`${root}${path}`),
    pass,
  }
}

/**
 * The pages of a list that strangers fill, as `shrinkingPages` reads them: full ones, ten at most. `query` does not contain
 * the page and its length.
 */
export function pagesOf(
  repository: Repository,
  path: string,
  query: Readonly<Record<string, string>>,
): AsyncGenerator<Page | 'too large'> {
  const { askForPage, context } = repository
  return shrinkingPages({ sizes: SIZES, most: MOST_PAGES }, async ({ page, size, before }) => {
    const parameters = new URLSearchParams({ ...query, limit: String(size), page: String(page) })
    const answer = await askForPage(`${path}?${parameters.toString()}`)
    const values = answer.status === 200 ? answer.data : undefined
    if (!Array.isArray(values)) throw await listFailure(repository, answer)
    if (values.length > size) throw notUnderstood(answer, context)
    const isLast = values.length === 0 || before + values.length >= totalOf(answer)
    return { answer, values, isLast }
  })
}

/** Gitea answers for a repository without pull requests as for a missing one. */
async function listFailure({ ask, context }: Repository, answer: ApiAnswer): Promise<Failure> {
  const { data } = answer.status === 404 ? await ask('GET', '') : answer
  return member(data, 'has_pull_requests') === false
    ? rejected('pull requests are switched off in the repository', answer.status, context)
    : giteaFailure(answer, context)
}

/**
 * The pull request of this number in an answer with 200, or with 201, which is Gitea's answer to a change.
 * @throws Failure for an answer that does not show it
 */
export function numbered(number: number, answer: ApiAnswer, repository: Repository): ShownPullRequest {
  const { baseURL, context } = repository
  const pull = [200, 201].includes(answer.status) ? shownOf(answer.data, baseURL) : undefined
  if (pull?.number !== number) throw giteaFailure(answer, context)
  return pull
}

/**
 * Checks that the head has commits that the base does not have: Gitea also opens an empty pull request. Requests one
 * commit, not the comparison, which contains all commits with their files.
 * @throws Failure HeadNotFound, NothingToMerge, and those of `giteaFailure`
 */
export async function lookForCommits(repository: Repository, branches: Branches): Promise<void> {
  const { ask, context } = repository
  // With the full ref names, because a tag may have the name of a branch.
  const [sha, not] = [branches.head, branches.base].map((branch) => `refs/heads/${branch}`)
  const plain = { stat: 'false', verification: 'false', files: 'false' }
  const query = new URLSearchParams({ sha: sha ?? '', not: not ?? '', limit: '1', ...plain })
  const answer = await ask('GET', `/commits?${query.toString()}`)
  if (answer.status !== 200) throw await branchFailure(repository, branches, answer)
  if (!Array.isArray(answer.data)) throw notUnderstood(answer, context)
  if (answer.data.length === 0) throw nothingToMerge(branches, context.shown)
}

/**
 * What is wrong with the branches, or else what the answer means: Gitea does not report a missing branch, or answers
 * 500.
 */
export async function branchFailure(
  repository: Repository,
  branches: Branches,
  answer: ApiAnswer,
): Promise<Failure> {
  const { ask, context } = repository
  if (saysNoChanges(answer)) return nothingToMerge(branches, context.shown)
  if (!mayLackBranch(answer)) return giteaFailure(answer, context)
  const lacksBase = await lacksBranch(repository, branches.base)
  const lacksHead = await lacksBranch(repository, branches.head)
  if (lacksBase !== lacksHead) return branchMissing(lacksHead ? 'head' : 'base', branches, context.shown)
  // The repository itself may be invisible.
  const last = lacksBase ? await ask('GET', '') : answer
  const isBroken = last.status === 500 || (lacksBase && last.status !== 200)
  return isBroken ? giteaFailure(last, context) : branchMissing('unknown', branches, context.shown)
}

async function lacksBranch({ ask, context }: Repository, branch: string): Promise<boolean> {
  const answer = await ask('GET', `/branches/${encodeURIComponent(branch)}`)
  if (answer.status === 404) return true
  if (answer.status !== 200) throw giteaFailure(answer, context)
  if (textMember(answer.data, 'name') === undefined) throw notUnderstood(answer, context)
  return false
}

/** How many there are on all pages; without the header, an empty page marks the end. */
function totalOf({ headers }: ApiAnswer): number {
  const total = headers.get('x-total-count')?.trim() ?? ''
  return /^\d{1,15}$/.test(total) ? Number(total) : Infinity
}
