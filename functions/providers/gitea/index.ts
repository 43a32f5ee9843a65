import type { ApiAnswer } from '../api-answer.ts'
import { notUnderstood } from '../api-failure.ts'
import type { ApiLogin } from '../../domain/credentials/login.ts'
import { draftTitle, titleLike } from '../../domain/pull-request/draft-title.ts'
import type {
  Branches,
  Endpoint,
  PullRequests,
  ShownPullRequest,
} from '../../domain/pull-request/pull-requests.ts'
import { DRAFT, joins, shownOf } from './pull-request.ts'
import { addDetails } from './details.ts'
import { giteaFailure } from './errors.ts'
import { branchFailure, lookForCommits, numbered, pagesOf, repositoryAt } from './repository.ts'

/**
 * Pull requests on Gitea and Forgejo (REST API v1). The host checks for one with the same branches and opens another in
 * two separate steps, so concurrent requests open two: callers create one at a time, and look for an open one first.
 */
export default function connect(endpoint: Endpoint, login: ApiLogin): PullRequests {
  const repository = repositoryAt(endpoint, login)
  const { ask, context, baseURL } = repository

  return {
    async find(branches, among) {
      const found: ShownPullRequest[] = []
      let isAll = false
      // The default order is newest first. There is no filter for heads, so the list has other heads as well.
      const query = { state: among, base_branch: branches.base }
      for await (const { answer, values, isLast } of pagesOf(repository, '/pulls', query)) {
        found.push(...values.filter((pull) => joins(pull, branches)).map((pull) => understood(pull, answer)))
        isAll = isLast
      }
      const wanted = found.filter(({ state }) => among === 'all' || state === 'open')
      return isAll || among === 'all' || wanted.length > 0 ? wanted : buried(branches)
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
      const answer = await ask('POST', '/pulls', written)
      if (answer.status === 409) return 'exists'
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

  /** The open one that the pages read did not contain, because there are many of other heads. */
  async function buried(branches: Branches): Promise<readonly ShownPullRequest[]> {
    const [base, head] = [branches.base, branches.head].map(encodeURIComponent)
    const answer = await ask('GET', `/pulls/${base}/${head}`)
    if (answer.status === 404) return []
    if (answer.status !== 200) throw giteaFailure(answer, context)
    const shown = understood(answer.data, answer)
    return joins(answer.data, branches) && shown.state === 'open' ? [shown] : []
  }

  function understood(pull: unknown, answer: ApiAnswer): ShownPullRequest {
    const shown = shownOf(pull, baseURL)
    if (shown === undefined) throw notUnderstood(answer, context)
    return shown
  }
}
