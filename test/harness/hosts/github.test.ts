import t from 'tap'
import { readDescription } from './description.ts'
import type { HostCall, Route } from './dialect.ts'
import { github } from './github.ts'
import { memoryModel } from './model.ts'

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

t.test("what the stand-in says is what GitHub's published description promises", async (t) => {
  const description = readDescription('github')
  const model = memoryModel()
  model.branches.set('settings', 2)
  for (const { method, path, query = '', body, status } of TALK) {
    const call = {
      path: `/repos/acme/shop${path}`,
      query: new URLSearchParams(query),
      body,
      origin: 'https://localhost',
      apiPath: '/api/v3',
    }
    const request = { ...call, method, contentType: body === undefined ? undefined : 'application/json' }
    t.strictSame(description.complaints(request), [], `${method} ${path} is allowed`)
    const answer = await answerTo(method, call)
    t.equal(answer?.status, status, `${method} ${path}`)
    t.strictSame(description.answerComplaints(request, status, answer?.body), [], `${status} of ${path}`)
  }

  async function answerTo(method: Route['method'], call: Omit<HostCall, 'match'>) {
    for (const route of github.routes) {
      const match = route.method === method ? route.path.exec(call.path) : null
      if (match !== null) return route.answer({ ...call, match }, model)
    }
    return undefined
  }
})
