import type { ApiAnswer } from '../api-answer.ts'
import { notUnderstood, outOfSight } from '../api-failure.ts'
import type { ApiLogin } from '../../domain/credentials/login.ts'
import { keepAll } from '../../domain/pull-request/choice.ts'
import type {
  Endpoint,
  HostedPullRequests,
  ShownPullRequest,
} from '../../domain/pull-request/pull-requests.ts'
import { isOlder, joins, shownOf, writtenOf } from './pull-request.ts'
import { addDetails } from './details.ts'
import { creationFailure, staleReviewers } from './errors.ts'
import { queryOf } from './query.ts'
import { isByUUID, numbered, pagesOf, repositoryAt, slugsOf, write } from './repository.ts'

/**
 * Pull requests on Bitbucket Cloud (REST API 2.0). A request to create one changes an open one of the same branches
 * without an error, so `create` never returns `exists`: its caller has to look for an open one right before it.
 */
export default function connect(endpoint: Endpoint, login: ApiLogin): HostedPullRequests {
  const repository = repositoryAt(endpoint, login)
  const { ask, pullRequestsURL, context, baseURL } = repository
  let path = endpoint.repository

  // Once its slugs are known, those of forks can always be left out of a list.
  async function ownPath(): Promise<readonly string[]> {
    path = await slugsOf(repository)
    return path
  }

  return {
    creationReplaces: true,
    ownPath: isByUUID(path) ? ownPath : undefined,

    async find(branches, among, keep = keepAll) {
      let found: readonly ShownPullRequest[] = []
      const q = queryOf({ branches, among, repository: path })
      for await (const { answer, values, isCut } of pagesOf(repository, q)) {
        const joined = values.filter((pull) => joins(pull, branches))
        found = keep([...found, ...joined.map((pull) => understood(pull, answer))])
        if (isCut && found.length === 0) throw outOfSight(branches, context.shown)
        // At most one with the same branches is open, and it is the newest.
        if (among === 'open' && found.length > 0) break
      }
      return found.filter(({ state }) => among === 'all' || state === 'open')
    },

    async read(number, branches) {
      const answer = await ask('GET', `${pullRequestsURL}/${number}`)
      if (answer.status === 404) return undefined
      const pull = numbered(number, answer, repository)
      return joins(answer.data, branches) ? pull : undefined
    },

    async create({ title, body, branches, draft }) {
      const [source, destination] = [branches.head, branches.base].map((name) => ({ branch: { name } }))
      const asked = performance.now()
      const answer = await ask('POST', pullRequestsURL, {
        title,
        description: body,
        source,
        destination,
        draft,
      })
      const tookMs = performance.now() - asked
      if (answer.status !== 201) throw creationFailure(answer, branches, context)
      const created = understood(answer.data, answer)
      if (!joins(answer.data, branches)) throw notUnderstood(answer, context)
      return isOlder(answer.data, tookMs) ? { ...created, replaced: true } : created
    },

    async update({ number }, { title, body }) {
      const answer = await ask('GET', `${pullRequestsURL}/${number}`)
      numbered(number, answer, repository)
      const refused = await write(repository, number, { ...writtenOf(answer.data), title, description: body })
      if (refused !== undefined) throw staleReviewers(number, refused, context)
    },

    add: (number, detail, names) => addDetails(repository, { number, detail, names }),
  }

  function understood(pull: unknown, answer: ApiAnswer): ShownPullRequest {
    const shown = shownOf(pull, baseURL)
    if (shown === undefined) throw notUnderstood(answer, context)
    return shown
  }
}
