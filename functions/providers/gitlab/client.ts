import { createRequesterFn } from '@gitbeaker/requester-utils'
import { Branches, Commits, MergeRequests, Projects, Users } from '@gitbeaker/rest'
import { parseAnswer } from '../api-answer.ts'
import type { ApiAnswer } from '../api-answer.ts'
import type { ApiLogin } from '../../domain/credentials/login.ts'
import { Failure } from '../../domain/failure.ts'
import { entries, member, textMember } from '../../domain/json-value.ts'
import type { Endpoint, FetchInit } from '../../domain/pull-request/pull-requests.ts'

/** The parts of GitLab's REST API that are used. The results of their methods are read with `answerFrom`. */
export interface Client {
  readonly branches: Branches
  readonly commits: Commits
  readonly mergeRequests: MergeRequests
  readonly projects: Projects
  readonly users: Users
}

/** The library appends this path to its `host` automatically. */
const API_PATH = /\/api\/v4$/

/**
 * The library's resources with `endpoint.fetch`: one request for each call, whatever the answer. The library's own
 * requester would repeat a POST up to ten times, and its errors contain the token. GitLab accepts every kind of token
 * as `Authorization: Bearer` (GitLab documentation, "REST API authentication").
 */
export function connectClient(endpoint: Endpoint, login: ApiLogin): Client {
  const { baseURL, fetch } = endpoint
  const requesterFn = createRequesterFn(
    (_resource, request) => Promise.resolve(request),
    async (path, request) => ({
      // The library returns a body that is not a list unchanged, so the whole answer is passed as the body.
      body: { ...(await parseAnswer(await send(path, request), endpoint)) },
      headers: {},
      status: 200,
    }),
  )
  const host = baseURL.replace(API_PATH, '')
  // Without a timeout of the library: the attempt has its own.
  const options = { host, oauthToken: login.secret, requesterFn, queryTimeout: null }
  return {
    branches: new Branches(options),
    commits: new Commits(options),
    mergeRequests: new MergeRequests(options),
    projects: new Projects(options),
    users: new Users(options),
  }

  function send(path: string, request: unknown): Promise<Response> {
    const [base, query] = [textMember(request, 'prefixUrl') ?? '', textMember(request, 'searchParams')]
    return fetch(`${base}${path}${query === undefined ? '' : `?${query}`}`, initOf(request))
  }
}

/** The host's answer to a call of the library, for any status. */
export async function answerFrom(call: Promise<unknown>): Promise<ApiAnswer> {
  const answer = await call
  const status = member(answer, 'status')
  const headers = member(answer, 'headers')
  if (typeof status === 'number' && headers instanceof Headers)
    return { status, headers, data: member(answer, 'data') }
  const message =
    'An answer of GitLab did not come through its client; Commitlet retries automatically, and your Commitlet operator has to check it.'
  throw new Failure('Internal', message)
}

function initOf(request: unknown): FetchInit {
  const headers = entries(member(request, 'headers')).filter(hasText)
  const body = textMember(request, 'body')
  return {
    method: textMember(request, 'method') ?? 'GET',
    headers: { accept: 'application/json', ...Object.fromEntries(headers) },
    ...(body === undefined ? {} : { body }),
  }
}

function hasText(entry: readonly [string, unknown]): entry is readonly [string, string] {
  return typeof entry[1] === 'string'
}
