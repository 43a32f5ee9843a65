import { parseAnswer } from './api-answer.ts'
import type { ApiAnswer } from './api-answer.ts'
import type { ErrorContext } from './api-failure.ts'
import { basicAuthorization, type ApiLogin } from '../domain/credentials/login.ts'
import type { Endpoint } from '../domain/pull-request/pull-requests.ts'

/** An API that is called without a library, with JSON in both directions. */
export interface ApiCaller {
  readonly context: ErrorContext
  /** Returns the answer for any status. */
  readonly ask: (method: string, url: string, content?: unknown) => Promise<ApiAnswer>
  /** Requests a page of a list that strangers fill. Returns the answer for any status; `isTooLarge` knows its Failure. */
  readonly askForPage: (url: string) => Promise<ApiAnswer>
}

/** Calls with a token alone (RFC 6750), or with user name and secret (RFC 7617). Sends no request yet. */
export function apiCaller(endpoint: Endpoint, login: ApiLogin): ApiCaller {
  const { shown, fetch: send } = endpoint
  const { username, secret } = login
  const authorization =
    username === undefined ? `Bearer ${secret}` : basicAuthorization({ username, password: secret })
  const headers = { accept: 'application/json', authorization }
  return {
    context: { shown, secrets: [...login.secrets, secret, `${username ?? ''}:${secret}`] },
    async ask(method, url, content) {
      const written =
        content === undefined
          ? { headers }
          : { headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(content) }
      return parseAnswer(await send(url, { method, ...written }), endpoint)
    },
    askForPage: async (url) =>
      parseAnswer(await send(url, { method: 'GET', headers, isPage: true }), endpoint),
  }
}
