import { apiCaller } from '../api-caller.ts'
import { member, textMember } from '../../domain/json-value.ts'
import type { ApiLogin } from '../../domain/credentials/login.ts'
import type { Endpoint } from '../../domain/pull-request/pull-requests.ts'
import { flag, inspectBranches, shownName, type Inspection } from '../inspection.ts'
import { giteaFailure } from './errors.ts'

/** `GET /user` needs the scope read:user, which a token may lack; Gitea tells neither scopes nor an end. */
export async function inspect(
  endpoint: Endpoint,
  login: ApiLogin,
  branches: readonly string[],
): Promise<Inspection> {
  const { baseURL } = endpoint
  const { ask, context } = apiCaller(endpoint, login)
  const user = await ask('GET', `${baseURL}/user`)
  if (user.status === 401) throw giteaFailure(user, context)
  const root = `${baseURL}/repos/${endpoint.repository.map(encodeURIComponent).join('/')}`
  const repository = await ask('GET', root)
  if (repository.status !== 200) throw giteaFailure(repository, context)
  const { data } = repository
  return {
    user: user.status === 200 ? shownName(textMember(user.data, 'login')) : undefined,
    scopes: undefined,
    expires: undefined,
    mayPush: flag(member(member(data, 'permissions'), 'push')),
    archived: member(data, 'archived') === true,
    branches: await inspectBranches(
      branches,
      (name) => ask('GET', `${root}/branches/${encodeURIComponent(name)}`),
      {
        read: (branch) => ({
          isProtected: flag(member(branch, 'protected')),
          mayPush: flag(member(branch, 'user_can_push')),
        }),
        failure: (answer) => giteaFailure(answer, context),
      },
    ),
  }
}
