import t from 'tap'
import { isRecord } from '../../../functions/domain/json-value.ts'
import type { HostCall, Route } from './dialect.ts'
import { github } from './github.ts'
import { addPull, memoryModel } from './model.ts'
import type { HostModel } from './model.ts'
import { requestCheck } from './request-check.ts'

const TALK: readonly {
  readonly method: Route['method']
  readonly path: string
  readonly query?: string
  readonly body?: unknown
  readonly status: number
}[] = [
  { method: 'GET', path: '', status: 200 },
  { method: 'POST', path: '/pulls', body: { title: 'a', head: 'settings', base: 'main' }, status: 201 },
  { method: 'POST', path: '/pulls', body: { title: 'a', head: 'settings', base: 'main' }, status: 422 },
  { method: 'POST', path: '/pulls', body: { title: 'a', head: 'none', base: 'none' }, status: 422 },
  { method: 'POST', path: '/pulls', body: { title: 'a', head: 'main', base: 'main' }, status: 422 },
  { method: 'GET', path: '/pulls', query: 'head=acme:settings&base=main', status: 200 },
  { method: 'GET', path: '/pulls/1', status: 200 },
  { method: 'GET', path: '/pulls/2', status: 404 },
  { method: 'PATCH', path: '/pulls/1', body: { title: 'b', body: 'c' }, status: 200 },
  { method: 'GET', path: '/pulls/1/requested_reviewers', status: 200 },
  { method: 'POST', path: '/pulls/1/requested_reviewers', body: { reviewers: ['dev'] }, status: 201 },
  { method: 'POST', path: '/pulls/1/requested_reviewers', body: { reviewers: ['nobody'] }, status: 422 },
  { method: 'GET', path: '/pulls/1/reviews', status: 200 },
  { method: 'POST', path: '/issues/1/labels', body: { labels: ['urgent'] }, status: 200 },
  { method: 'POST', path: '/issues/1/assignees', body: { assignees: ['dev', 'nobody'] }, status: 201 },
]

t.test("the answers of the stand-in conform to GitHub's operations", async (t) => {
  const check = requestCheck(github.operations)
  const model = memoryModel()
  model.branches.set('settings', 2)
  for (const { method, path, query = '', body, status } of TALK) {
    const call = {
      path: `/repos/acme/shop${path}`,
      query: new URLSearchParams(query),
      body,
      origin: 'https://localhost',
      apiPath: '/api/v3',
      token: 'good-token',
    }
    const request = { ...call, method, contentType: body === undefined ? undefined : 'application/json' }
    t.strictSame(check.complaints(request), [], `${method} ${path} is allowed`)
    const answer = await answerTo(method, call)
    t.equal(answer?.status, status, `${method} ${path}`)
    t.strictSame(check.answerComplaints(request, status, answer?.body), [], `${status} of ${path}`)
  }

  async function answerTo(method: Route['method'], call: Omit<HostCall, 'match'>) {
    for (const route of github.routes) {
      const match = route.method === method ? route.path.exec(call.path) : null
      if (match !== null) return route.answer({ ...call, match }, model)
    }
    return undefined
  }
})

const PULL = '/repos/acme/shop/pulls/1'
/** Answers of the stand-in, each with one change. */
const BENT: readonly (readonly [line: string, field: string, value: unknown])[] = [
  ...['number', 'html_url', 'title', 'state', 'merged_at', 'head', 'base', 'labels'].map(
    (field) => [`GET ${PULL}`, field, undefined] as const,
  ),
  [`GET ${PULL}`, 'number', '1'],
  [`GET ${PULL}`, 'title', null],
  [`GET ${PULL}`, 'state', 'opened'],
  [`GET ${PULL}`, 'head', { ref: 'settings' }],
  [`GET ${PULL}`, 'assignees', [{}]],
  [`GET ${PULL}/requested_reviewers`, 'teams', undefined],
  [`GET ${PULL}/requested_reviewers`, 'users', [{ login: 7 }]],
  ['GET /repos/acme/shop', 'id', undefined],
  ['GET /repos/acme/shop', 'full_name', null],
]

t.test('an answer does not conform where a field that our provider reads is missing or wrong', async (t) => {
  const check = requestCheck(github.operations)
  const model = memoryModel()
  addPull(model, { base: 'main', head: 'settings', title: 'a' })
  for (const [line, field, value] of BENT) {
    const [method = '', path = ''] = line.split(' ')
    const request = { method, path, query: new URLSearchParams(), contentType: undefined, body: undefined }
    const answer = await answerAt(path, model)
    t.strictSame(check.answerComplaints(request, 200, answer), [], line)
    const changed = Object.entries({ ...answer, [field]: value })
    const bent = Object.fromEntries(changed.filter(([, one]) => one !== undefined))
    t.match(check.answerComplaints(request, 200, bent).join(' '), new RegExp(`\\b${field}\\b`), field)
  }
})

async function answerAt(path: string, model: HostModel): Promise<Readonly<Record<string, unknown>>> {
  const call = {
    path,
    query: new URLSearchParams(),
    body: undefined,
    origin: 'https://localhost',
    apiPath: '/api/v3',
    token: 'good-token',
  }
  for (const route of github.routes) {
    const match = route.method === 'GET' ? route.path.exec(path) : null
    if (match === null) continue
    const { body } = await route.answer({ ...call, match }, model)
    return isRecord(body) ? body : {}
  }
  return {}
}
