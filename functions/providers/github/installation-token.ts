import { createAppAuth } from '@octokit/auth-app'
import type { App } from '../../domain/credentials/app.ts'
import type { IssuedToken } from '../../domain/credentials/app-login.ts'
import { elements, textMember, member } from '../../domain/json-value.ts'
import type { ApiAnswer } from '../api-answer.ts'
import { notUnderstood } from '../api-failure.ts'
import type { TokenPlace } from '../ask-for-token.ts'
import { appFailure, lackOfRepository } from './app-errors.ts'
import { appJWT } from './app-jwt.ts'
import { usableInstallation } from './installation.ts'
import { openOctokit } from './octokit.ts'
import type { OctokitLogin } from './octokit.ts'

/** A host whose clock differs more is not believed: it would have a JSON Web Token that is good later, and elsewhere. */
const MOST_AHEAD_S = 900
/** What a header can carry; GitHub's have some 520 characters. */
const TOKEN = /^[\x21-\x7e]{1,8192}$/

/**
 * Asks for a token for this repository alone, with these permissions alone. The App logs in as itself by the library, which
 * asks again with the time of the host if that refuses the time of the first token. It does not ask for the token: what it
 * shares among requests that are under way is not told apart by App and key.
 * @throws Failure as AskForToken says
 */
export async function askForToken(place: TokenPlace, app: App): Promise<IssuedToken> {
  const ask = openOctokit(place, loginOf(app, place.now))
  const installation = await usableInstallation(ask, place, app)
  const [, name = ''] = place.repository
  const answer = await ask('POST /app/installations/{installation_id}/access_tokens', {
    installation_id: installation,
    repositories: [name],
    permissions: place.permissions,
  })
  if (answer.status !== 201) throw appFailure(answer, place, app)
  return issuedIn(answer, installation, { place, app })
}

function loginOf({ id, key }: App, now: Date): OctokitLogin {
  const createJwt = async (_id: unknown, secondsAhead?: number): Promise<object> => {
    const isNear = secondsAhead !== undefined && Math.abs(secondsAhead) <= MOST_AHEAD_S
    const time = isNear ? new Date(Date.now() + secondsAhead * 1_000) : now
    return { jwt: await appJWT({ id, key }, time), expiresAt: '' }
  }
  return { authStrategy: createAppAuth, auth: { appId: id, createJwt } }
}

function issuedIn(
  answer: ApiAnswer,
  installation: number,
  { place, app }: { readonly place: TokenPlace; readonly app: App },
): IssuedToken {
  const { data, headers } = answer
  const context = { shown: place.shown, secrets: app.secrets }
  const token = textMember(data, 'token') ?? ''
  const begins = Date.parse(headers.get('date') ?? '') || place.now.getTime()
  const seconds = (Date.parse(textMember(data, 'expires_at') ?? '') - begins) / 1_000
  const repositories = elements(member(data, 'repositories'))
  const [only] = repositories
  if (!TOKEN.test(token) || Number.isNaN(seconds) || repositories.length !== 1)
    throw notUnderstood(answer, context)
  // The name alone was sent: another account may have a repository of the same name.
  const asked = place.repository.join('/').toLowerCase()
  if (textMember(only, 'full_name')?.toLowerCase() !== asked) throw lackOfRepository(place, app)
  return { token, installation: String(installation), seconds }
}
