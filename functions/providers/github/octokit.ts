import { Octokit } from '@octokit/rest'
import { parseAnswer, wordsMember } from '../api-answer.ts'
import type { ApiAnswer } from '../api-answer.ts'
import { Failure } from '../../domain/failure.ts'
import type { Endpoint, Fetch, FetchInit, SentBody } from '../../domain/pull-request/pull-requests.ts'
import { isOfGitHub } from './errors.ts'

/**
 * Calls a route, such as `GET /repos/{owner}/{repo}`, once. Returns the answer for any status. `isPage` as in FetchInit; `body`:
 * JSON that is sent in place of the parameters.
 * @throws Failure those of the network
 */
export type Ask = (
  route: string,
  parameters: Readonly<Record<string, unknown>>,
  more?: { readonly isPage?: boolean; readonly body?: SentBody },
) => Promise<ApiAnswer>

/** How the library logs in. */
export type OctokitLogin = Pick<
  NonNullable<ConstructorParameters<typeof Octokit>[0]>,
  'auth' | 'authStrategy'
>

/** Calls GitHub by its library. Sends no request yet. */
export function openOctokit(
  endpoint: Pick<Endpoint, 'baseURL' | 'shown' | 'fetch' | 'share' | 'mayHave'>,
  login: OctokitLogin,
): Ask {
  const { baseURL, shown, fetch } = endpoint
  const log = { debug: ignore, info: ignore, warn: ignore, error: ignore }
  const octokit = new Octokit({ ...login, baseUrl: baseURL, userAgent: 'commitlet', log })
  const headers = { accept: 'application/vnd.github+json', ...versionFor(baseURL) }
  return async function ask(route, parameters, { isPage = false, body } = {}) {
    const answers: ApiAnswer[] = []
    const kept: Fetch = async (url, init) => {
      const sent = body === undefined ? init : withBody(init, body)
      const answer = await parseAnswer(await fetch(url, { ...sent, isPage }), endpoint)
      answers.push(answer)
      return forLibrary(answer)
    }
    const request = { fetch: kept, log }
    const error: unknown = await octokit
      .request(route, { ...parameters, headers, request })
      .catch((error: unknown) => error)
    const failure = failureIn(error)
    if (failure !== undefined) throw failure
    const answer = answers.at(-1)
    if (answer === undefined) throw unread(shown)
    return answer
  }
}

function withBody(init: FetchInit, body: SentBody): FetchInit {
  return { ...init, headers: { ...init.headers, 'content-type': 'application/json; charset=utf-8' }, body }
}

/**
 * The library would parse an answer of any size, so it gets the status only, and what tells it that an App was refused
 * because of its clock.
 */
function forLibrary({ status, headers, data }: ApiAnswer): Response {
  const message = status === 401 ? wordsMember(data, 'message') : undefined
  if (message === undefined) return new Response(null, { status })
  const date = headers.get('date')
  return new Response(JSON.stringify({ message }), {
    status,
    headers: { 'content-type': 'application/json', ...(date === null ? {} : { date }) },
  })
}

function ignore(): void {
  return undefined
}

// A GitHub Enterprise Server refuses versions that it does not know.
function versionFor(baseURL: string): Readonly<Record<string, string>> {
  return isOfGitHub(baseURL) ? { 'x-github-api-version': '2022-11-28' } : {}
}

/** The Failure in an error of the library, which wraps what `fetch` throws together with the request. */
function failureIn(error: unknown): Failure | undefined {
  let seen = error
  for (let depth = 0; depth < 5 && seen instanceof Error; depth += 1) {
    if (seen instanceof Failure) return seen
    seen = seen.cause
  }
  return undefined
}

function unread(shown: string): Failure {
  const message = `The answer of the API of ${shown} could not be read; Commitlet retries automatically.`
  return new Failure('ProviderUnavailable', message)
}
