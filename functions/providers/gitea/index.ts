import type { ApiAnswer } from '../api-answer.ts'
import { notUnderstood } from '../api-failure.ts'
import { asFailure, Failure } from '../../domain/failure.ts'
import type { ApiLogin } from '../../domain/credentials/login.ts'
import { keepAll } from '../../domain/pull-request/choice.ts'
import { draftTitle, titleLike } from '../../domain/pull-request/draft-title.ts'
import type {
  Branches,
  Endpoint,
  PullRequests,
  ShownPullRequest,
} from '../../domain/pull-request/pull-requests.ts'
import { DRAFT, joins, shownOf } from './pull-request.ts'
import { addDetails } from './details.ts'
import { existingIn, giteaFailure } from './errors.ts'
import { branchFailure, lookForCommits, numbered, pagesOf, repositoryAt } from './repository.ts'

/**
 * Pull requests on Gitea and Forgejo (REST API v1). The host checks for one with the same branches and opens another in
 * two separate steps, so concurrent requests open two: callers create one at a time, and look for an open one first.
 */
export default function connect(endpoint: Endpoint, login: ApiLogin): PullRequests {
  const repository = repositoryAt(endpoint, login)
  const { ask, context, baseURL } = repository

  /** The number of the open one that has kept another from being opened. */
  let reported: number | undefined

  const pullRequests: PullRequests = {
    async find(branches, among, keep = keepAll) {
      let found: readonly ShownPullRequest[] = []
      let isWhole = true
      // The default order is newest first. There is no filter for heads, so the list has other heads as well.
      const query = { state: among, base_branch: branches.base }
      for await (const page of pagesOf(repository, '/pulls', query)) {
        if (page === 'too large') {
          const only = isWhole ? await onlyOne(branches, among) : undefined
          if (only !== undefined) return only
          isWhole = false
          continue
        }
        const { answer, values, isLast } = page
        const joined = values.filter((pull) => joins(pull, branches))
        found = keep([...found, ...joined.map((pull) => understood(pull, answer))])
        if (isLast && isWhole) return found.filter(isAmong(among))
      }
      const wanted = found.filter(isAmong(among))
      return wanted.length > 0 ? wanted : buried(branches, among)
    },

    async read(number, branches) {
      const answer = await ask('GET', `/pulls/${number}`)
      if (answer.status === 404) return undefined
      const shown = numbered(number, answer, repository)
      return joins(answer.data, branches) ? shown : undefined
    },

    async create({ title, body, branches, draft }) {
      await lookForCommits(repository, branches)
      const { base, head } = branches
      const written = { title: draft ? draftTitle(title, DRAFT) : title, body, base, head }
      const answer = await ask('POST', '/pulls', written).catch(laterThanBoth)
      if (answer.status === 409) {
        reported = existingIn(answer)
        return 'exists'
      }
      if (answer.status !== 201) throw await branchFailure(repository, branches, answer)
      const created = understood(answer.data, answer)
      if (!joins(answer.data, branches)) throw notUnderstood(answer, context)
      return created
    },

    async update({ number, title }, text) {
      const written = { title: titleLike(title, text.title, DRAFT), body: text.body }
      numbered(number, await ask('PATCH', `/pulls/${number}`, written), repository)
    },

    add: (number, detail, names) => addDetails(repository, { number, detail, names }),
  }
  return pullRequests

  /** All there are, if their branches alone show it, whatever strangers have opened; undefined: they do not. */
  async function onlyOne(
    branches: Branches,
    among: 'open' | 'all',
  ): Promise<readonly ShownPullRequest[] | undefined> {
    const one = await byBranches(branches)
    if (one === 'none') return []
    return among === 'open' && one?.state === 'open' ? [one] : undefined
  }

  /** One that the pages read did not contain, because there are many of other heads, or long ones. */
  async function buried(branches: Branches, among: 'open' | 'all'): Promise<readonly ShownPullRequest[]> {
    const one = await byBranches(branches)
    if (one === 'none') return []
    if (one !== undefined && isAmong(among)(one)) return [one]
    const other = reported === undefined ? undefined : await pullRequests.read(reported, branches)
    return other !== undefined && isAmong(among)(other) ? [other] : []
  }

  /**
   * One of those with these branches of the repository itself, open or not: Gitea does not say which. Undefined: it has other
   * branches (as one of the AGit flow may).
   */
  async function byBranches(branches: Branches): Promise<ShownPullRequest | 'none' | undefined> {
    const [base, head] = [branches.base, branches.head].map(encodeURIComponent)
    const answer = await ask('GET', `/pulls/${base}/${head}`)
    if (answer.status === 404) return 'none'
    if (answer.status !== 200) throw giteaFailure(answer, context)
    const shown = understood(answer.data, answer)
    return joins(answer.data, branches) ? shown : undefined
  }

  function understood(pull: unknown, answer: ApiAnswer): ShownPullRequest {
    const shown = shownOf(pull, baseURL)
    if (shown === undefined) throw notUnderstood(answer, context)
    return shown
  }
}

/** After so many seconds a host that has not answered has done both steps, or never will. */
const BOTH_STEPS_S = 120

/** Without an answer in time it may be between its two steps, and another request would be opened as well. */
function laterThanBoth(error: unknown): never {
  const failure = asFailure(error)
  if (failure.reason !== 'Timeout') throw failure
  throw new Failure(failure.reason, failure.message, { cause: failure, retryAfterSeconds: BOTH_STEPS_S })
}

function isAmong(among: 'open' | 'all'): (pull: ShownPullRequest) => boolean {
  return ({ state }) => among === 'all' || state === 'open'
}
