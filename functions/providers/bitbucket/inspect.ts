import { apiCaller } from '../api-caller.ts'
import { textMember } from '../../domain/json-value.ts'
import type { ApiLogin } from '../../domain/credentials/login.ts'
import type { Endpoint } from '../../domain/pull-request/pull-requests.ts'
import { inspectBranches, shownName, wordsOf, type Inspection } from '../inspection.ts'
import { bitbucketFailure } from './errors.ts'

/** The scopes with which a push is allowed: those of API tokens, and those of access tokens and OAuth. */
const PUSHES = ['write:repository:bitbucket', 'repository:write', 'repository:admin']

/**
 * `GET /user` needs a scope of its own, which says nothing about the token otherwise, and access tokens have no user;
 * the scopes are in a header of each answer. Rules of branches are shown to administrators only.
 */
export async function inspect(
  endpoint: Endpoint,
  login: ApiLogin,
  branches: readonly string[],
): Promise<Inspection> {
  const { baseURL } = endpoint
  const { ask, context } = apiCaller(endpoint, login)
  const segments = endpoint.repository.map((segment) => encodeURIComponent(segment.toLowerCase()))
  const root = `${baseURL}/repositories/${segments.join('/')}`
  const repository = await ask('GET', root)
  if (repository.status !== 200) throw bitbucketFailure(repository, context)
  const user = await ask('GET', `${baseURL}/user`)
  const scopes = wordsOf(repository.headers.get('x-oauth-scopes'))
  return {
    user: user.status === 200 ? shownName(textMember(user.data, 'display_name')) : undefined,
    scopes,
    expires: undefined,
    mayPush: scopes === undefined ? undefined : scopes.some((scope) => PUSHES.includes(scope)),
    archived: false,
    branches: await inspectBranches(
      branches,
      (name) => ask('GET', `${root}/refs/branches/${encodeURIComponent(name)}`),
      {
        read: () => ({ isProtected: undefined, mayPush: undefined }),
        failure: (answer) => bitbucketFailure(answer, context),
      },
    ),
  }
}
