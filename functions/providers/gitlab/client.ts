import { createRequesterFn } from '@gitbeaker/requester-utils'
import { Branches, Commits, MergeRequests, Projects, Users } from '@gitbeaker/rest'
import { parseAnswer } from '../api-answer.ts'
import type { ApiAnswer } from '../api-answer.ts'
import type { ApiLogin } from '../../domain/credentials/login.ts'
import { Failure } from '../../domain/failure.ts'
import { entries, member, textMember } from '../../domain/json-value.ts'
import type { Endpoint, FetchInit } from '../../domain/pull-request/pull-requests.ts'

/** The parts of GitLab's REST API that are used. What their methods answer is read by `answerFrom`. */
export interface Client {
  readonly branches: Branches
  readonly commits: Commits
  readonly mergeRequests: MergeRequests
  readonly projects: Projects
  readonly users: Users
}

/** The library appends it to its `host` by itself. */
const API_PATH = /\/api\/v4$/

/**
 * The library's resources over `endpoint.fetch`: one request for each call, whatever is answered. The library's own
 * requester would repeat a POST ten times, and its errors hold the token. GitLab takes tokens of every kind as
 * `Authorization: Bearer` (GitLab documentation, "REST API authentication").
 */
export function connectClient({ baseURL, fetch }: Endpoint, login: ApiLogin): Client {
  const requesterFn = createRequesterFn(
    (_resource, request) => Promise.resolve(request),
    async (path, request) => ({ body: await answered(await send(path, request)), headers: {}, status: 200 }),
  )
  const host = baseURL.replace(API_PATH, '')
  // No timer of the library's: time is up with the attempt's.
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

/** What the host answered to a call of the library's, whatever its status. */
export async function answerFrom(call: Promise<unknown>): Promise<ApiAnswer> {
  const answer = await call
  const status = member(answer, 'status')
  const headers = member(answer, 'headers')
  if (typeof status === 'number' && headers instanceof Headers)
    return { status, headers, data: member(answer, 'data') }
  const message =
    'An answer of GitLab did not come through its client; it is tried again, and whoever runs Commitlet has to look.'
  throw new Failure('Internal', message)
}

/** The library hands a body that is no list on as it is, so that the whole answer travels as one. */
async function answered(response: Response): Promise<Record<string, unknown>> {
  return { ...(await parseAnswer(response)) }
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
