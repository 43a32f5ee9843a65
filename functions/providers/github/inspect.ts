import { isSerialNumber } from '../api-answer.ts'
import { apiCaller } from '../api-caller.ts'
import { member, textMember } from '../../domain/json-value.ts'
import type { ApiLogin } from '../../domain/credentials/login.ts'
import type { Endpoint } from '../../domain/pull-request/pull-requests.ts'
import { flag, inspectBranches, shownDate, shownName, wordsOf, type Inspection } from '../inspection.ts'
import { githubFailure } from './errors.ts'

/**
 * `GET /user`; the scopes of a classic token and the end of a token are in its headers (GitHub documentation, "Scopes for
 * OAuth apps", "Token expiration and revocation"). Tokens of Apps may not ask that: `GET /installation/repositories`.
 */
export async function inspect(
  endpoint: Endpoint,
  login: ApiLogin,
  branches: readonly string[],
): Promise<Inspection> {
  const { baseURL, shown } = endpoint
  const { ask } = apiCaller(endpoint, { ...login, username: undefined })
  const context = { shown, secrets: [...login.secrets, login.secret], baseURL }
  const isIssued = login.issued !== undefined
  const user = await ask('GET', `${baseURL}/${isIssued ? 'installation/repositories' : 'user'}`)
  if (user.status === 401) throw githubFailure(user, context)
  const root = `${baseURL}/repos/${endpoint.repository.map(encodeURIComponent).join('/')}`
  const repository = await ask('GET', root)
  if (repository.status !== 200) throw githubFailure(repository, context)
  const { data } = repository
  const scopes = wordsOf(user.headers.get('x-oauth-scopes'))
  const count = isIssued ? member(user.data, 'total_count') : undefined
  return {
    user: user.status === 200 ? shownName(textMember(user.data, 'login')) : undefined,
    issuedFor: isSerialNumber(count) ? count : undefined,
    scopes,
    expires: expiryOf(user.headers.get('github-authentication-token-expiration')),
    // Of an App GitHub shows the role, and has issued the token with what is needed, or not at all.
    mayPush: isIssued
      ? undefined
      : reaches(scopes)
        ? flag(member(member(data, 'permissions'), 'push'))
        : false,
    archived: member(data, 'archived') === true,
    branches: await inspectBranches(
      branches,
      (name) => ask('GET', `${root}/branches/${encodeURIComponent(name)}`),
      {
        read: (branch) => ({ isProtected: flag(member(branch, 'protected')), mayPush: undefined }),
        failure: (answer) => githubFailure(answer, context),
      },
    ),
  }
}

/** A classic token needs one of these scopes for a push; fine-grained tokens have none, and their rights are not told. */
function reaches(scopes: readonly string[] | undefined): boolean {
  return scopes === undefined || scopes.includes('repo') || scopes.includes('public_repo')
}

/** `2022-11-12 10:31:26 UTC` */
function expiryOf(header: string | null): string | undefined {
  return shownDate(header?.trim().replace(/ UTC$/, 'Z').replace(' ', 'T'))
}
