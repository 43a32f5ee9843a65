import { apiCaller } from '../api-caller.ts'
import type { ApiAnswer } from '../api-answer.ts'
import { branchMissing, notUnderstood, nothingToMerge } from '../api-failure.ts'
import type { ErrorContext } from '../api-failure.ts'
import type { ApiLogin } from '../../domain/credentials/login.ts'
import type { Failure } from '../../domain/failure.ts'
import { textMember } from '../../domain/json-value.ts'
import type { Branches, Endpoint, ShownPullRequest } from '../../domain/pull-request/pull-requests.ts'
import { shownOf } from './pull-request.ts'
import { giteaFailure, mayLackBranch, saysNoChanges } from './errors.ts'

/** Most that are read of a list. */
const MOST_PAGES = 10
/** An installation may have set a lower limit (MAX_RESPONSE_ITEMS), which it answers without a word. */
const PAGE_LENGTH = 50

/** One repository on Gitea or Forgejo, and how it is asked. */
export interface Repository {
  readonly baseURL: string
  readonly context: ErrorContext
  /** `path` is below the repository, with its query. Any status is answered. */
  readonly ask: (method: string, path: string, content?: unknown) => Promise<ApiAnswer>
}

/** One page of a list. */
export interface Page {
  readonly answer: ApiAnswer
  readonly values: readonly unknown[]
  /** Nothing is behind it. */
  readonly isLast: boolean
}

/** The repository that `endpoint` is about. Nothing is asked yet. */
export function repositoryAt(endpoint: Endpoint, login: ApiLogin): Repository {
  const { baseURL } = endpoint
  const { context: context, ask } = apiCaller(endpoint, login)
  const place = `${baseURL}/repos/${endpoint.repository.map(encodeURIComponent).join('/')}`
  return { baseURL, context, ask: (method, path, content) => ask(method, `${place}${path}`, content) }
}

/** The pages of a list, ten at most. `query` is without page and length. */
export async function* pagesOf(
  { ask, context }: Repository,
  path: string,
  query: Readonly<Record<string, string>>,
): AsyncGenerator<Page> {
  let read = 0
  for (let page = 1; page <= MOST_PAGES; page += 1) {
    const asked = new URLSearchParams({ ...query, limit: String(PAGE_LENGTH), page: String(page) })
    const answer = await ask('GET', `${path}?${asked.toString()}`)
    const values = answer.status === 200 ? answer.data : undefined
    if (!Array.isArray(values)) throw giteaFailure(answer, context)
    if (values.length > PAGE_LENGTH) throw notUnderstood(answer, context)
    read += values.length
    const isLast = values.length === 0 || read >= totalOf(answer)
    yield { answer, values, isLast }
    if (isLast) return
  }
}

/**
 * The pull request of this number out of an answer with 200, or with 201, as Gitea answers a change.
 * @throws Failure what an answer means that does not show it
 */
export function numbered(number: number, answer: ApiAnswer, repository: Repository): ShownPullRequest {
  const { baseURL, context } = repository
  const pull = [200, 201].includes(answer.status) ? shownOf(answer.data, baseURL) : undefined
  if (pull?.number !== number) throw giteaFailure(answer, context)
  return pull
}

/**
 * Looks for commits of the head that the base does not have: Gitea opens an empty pull request as well. One commit is
 * asked for, not the comparison, which holds them all with their files.
 * @throws Failure HeadNotFound, NothingToMerge, and those of `giteaFailure`
 */
export async function lookForCommits(repository: Repository, branches: Branches): Promise<void> {
  const { ask, context } = repository
  // A tag may have the name of a branch.
  const [sha, not] = [branches.head, branches.base].map((branch) => `refs/heads/${branch}`)
  const plain = { stat: 'false', verification: 'false', files: 'false' }
  const query = new URLSearchParams({ sha: sha ?? '', not: not ?? '', limit: '1', ...plain })
  const answer = await ask('GET', `/commits?${query.toString()}`)
  if (answer.status !== 200) throw await branchFailure(repository, branches, answer)
  if (!Array.isArray(answer.data)) throw notUnderstood(answer, context)
  if (answer.data.length === 0) throw nothingToMerge(branches, context.shown)
}

/** What is wrong with the branches, or else what the answer means: a missing one is not told, or breaks Gitea down. */
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
  // Perhaps nothing of the repository can be seen.
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

/** How many there are on all pages; without the header one page more tells. */
function totalOf({ headers }: ApiAnswer): number {
  const total = headers.get('x-total-count')?.trim() ?? ''
  return /^\d{1,15}$/.test(total) ? Number(total) : Infinity
}
