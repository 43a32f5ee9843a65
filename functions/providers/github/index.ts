import type { ApiAnswer } from '../api-answer.ts'
import { notUnderstood, outOfSight } from '../api-failure.ts'
import type { ApiLogin } from '../../domain/credentials/login.ts'
import { elements } from '../../domain/json-value.ts'
import { keepAll } from '../../domain/pull-request/choice.ts'
import type {
  Branches,
  Endpoint,
  PullRequests,
  ShownPullRequest,
} from '../../domain/pull-request/pull-requests.ts'
import { joins, shownPull } from './pull-request.ts'
import { addDetails } from './details.ts'
import { githubFailure, openingFailure } from './errors.ts'
import { hasNext, openRepository } from './repository.ts'
import type { Question } from './repository.ts'

/** Pull requests of github.com, *.ghe.com and GitHub Enterprise Server. */
export default function connect(endpoint: Endpoint, login: ApiLogin): PullRequests {
  const repository = openRepository(endpoint, login)
  const { context } = repository

  return {
    async find(branches, among, keep = keepAll) {
      let found: readonly ShownPullRequest[] = []
      let isCut = false
      const pages = repository.pages((home) => ({
        method: 'GET',
        path: '/pulls',
        parameters: {
          state: among,
          // GitHub ignores the filter if the branch has no owner.
          head: `${branches.headOwner ?? home.owner}:${branches.head}`,
          base: branches.base,
          sort: 'created',
          direction: 'desc',
        },
      }))
      for await (const page of pages) {
        const pulls = elements(page.data).map((pull) => read(pull, branches, page))
        found = keep([...found, ...pulls.filter((pull) => pull !== undefined)])
        isCut = hasNext(page)
      }
      if (isCut && found.length === 0) throw outOfSight(branches, endpoint.shown)
      return found
    },
    async read(number, branches) {
      const answer = await repository.ask(() => ({
        method: 'GET',
        path: '/pulls/{number}',
        parameters: { number },
      }))
      if (answer.status === 404) return undefined
      if (answer.status !== 200) throw githubFailure(answer, context)
      const found = read(answer.data, branches, answer)
      if (found !== undefined && found.number !== number) throw notUnderstood(answer, context)
      return found
    },
    async create({ branches, title, body, draft }) {
      const answer = await repository.ask(() => opening({ ...branches, title, body, draft }))
      if (answer.status === 201) return readable(read(answer.data, branches, answer), answer)
      const failure = openingFailure(answer, branches, context)
      if (failure === 'exists') return failure
      throw failure
    },
    async update({ number }, { title, body }) {
      const parameters = { number, title, body }
      const answer = await repository.ask(() => ({ method: 'PATCH', path: '/pulls/{number}', parameters }))
      if (answer.status !== 200) throw githubFailure(answer, context)
      const shown = shownPull(answer.data, endpoint.baseURL)
      if (shown?.number !== number) throw notUnderstood(answer, context)
    },
    add: (number, detail, names) => addDetails(repository, { number, detail, names }),
  }

  /** Undefined: it joins other branches. */
  function read(pull: unknown, branches: Branches, answer: ApiAnswer): ShownPullRequest | undefined {
    const joined = joins(pull, branches, repository.home())
    if (joined === false) return undefined
    return readable(joined === undefined ? undefined : shownPull(pull, endpoint.baseURL), answer)
  }

  function readable(pull: ShownPullRequest | undefined, answer: ApiAnswer): ShownPullRequest {
    if (pull === undefined) throw notUnderstood(answer, context)
    return pull
  }
}

interface Opening extends Branches {
  readonly title: string
  readonly body: string
  readonly draft: boolean
}

function opening({ base, head, headOwner, title, body, draft }: Opening): Question {
  const from = headOwner === undefined ? head : `${headOwner}:${head}`
  return { method: 'POST', path: '/pulls', parameters: { title, body, base, head: from, draft } }
}
