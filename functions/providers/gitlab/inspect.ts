import { apiCaller } from '../api-caller.ts'
import type { ApiAnswer } from '../api-answer.ts'
import { elements, member, textMember } from '../../domain/json-value.ts'
import type { ApiLogin } from '../../domain/credentials/login.ts'
import type { Endpoint } from '../../domain/pull-request/pull-requests.ts'
import { flag, inspectBranches, shownDate, shownName, shownWords, type Inspection } from '../inspection.ts'
import { gitlabFailure } from './errors.ts'

/** From this level on, a member may push to branches that are not protected ("Access levels": Developer). */
const DEVELOPER = 30

/**
 * `GET /personal_access_tokens/self` tells about tokens of users, groups and projects, and is not there for others.
 * Sources: GitLab documentation, "Personal access tokens API", "Projects API", "Branches API".
 */
export async function inspect(
  endpoint: Endpoint,
  login: ApiLogin,
  branches: readonly string[],
): Promise<Inspection> {
  const { baseURL, shown } = endpoint
  const { ask } = apiCaller(endpoint, { ...login, username: undefined })
  const context = { shown, baseURL, secrets: [...login.secrets, login.secret] }
  const token = await ask('GET', `${baseURL}/personal_access_tokens/self`)
  if (token.status === 401) throw gitlabFailure(token, context)
  const root = `${baseURL}/projects/${encodeURIComponent(endpoint.repository.join('/'))}`
  const [user, project] = [await ask('GET', `${baseURL}/user`), await ask('GET', root)]
  if (project.status !== 200) throw gitlabFailure(project, context)
  const scopes = token.status === 200 ? shownWords(elements(member(token.data, 'scopes'))) : undefined
  return {
    user: user.status === 200 ? shownName(textMember(user.data, 'username')) : undefined,
    scopes,
    expires: shownDate(textMember(token.data, 'expires_at')),
    mayPush: reaches(scopes) ? mayPush(project) : false,
    archived: member(project.data, 'archived') === true,
    branches: await inspectBranches(
      branches,
      (name) => ask('GET', `${root}/repository/branches/${encodeURIComponent(name)}`),
      {
        read: (branch) => ({
          isProtected: flag(member(branch, 'protected')),
          mayPush: flag(member(branch, 'can_push')),
        }),
        failure: (answer) => gitlabFailure(answer, context),
      },
    ),
  }
}

/** Git over HTTPS takes tokens with these scopes for a push. */
function reaches(scopes: readonly string[] | undefined): boolean {
  return scopes === undefined || scopes.includes('api') || scopes.includes('write_repository')
}

/** By the higher of both levels; for a token without membership, such as an administrator's, GitLab tells none. */
function mayPush({ data }: ApiAnswer): boolean | undefined {
  const permissions = member(data, 'permissions')
  const levels = ['project_access', 'group_access']
    .map((access) => member(member(permissions, access), 'access_level'))
    .filter((level) => typeof level === 'number')
  return levels.length === 0 ? undefined : Math.max(...levels) >= DEVELOPER
}
