import { waitFor } from '../../harness/wait.ts'
import type { Case } from './case.ts'
import { loginWith } from './stage.ts'

const PATIENCE = 5_000
const LIMIT_S = 90

/** Failures that pass on their own. */
export const OUTAGES: readonly Case[] = [
  ...['GET', 'POST'].map((which): Case => ({
    title: `a limit with a time is kept by all that use the same credentials (${which})`,
    async run(t, stage) {
      const answer = stage.dialect.answers.rateLimited(LIMIT_S)
      stage.server.fail({ kind: 'answer', answer }, (method) => method === which)
      stage.model.tokens.set('second-token', 'write')
      const resource = stage.resource()
      const failure = await stage.failure(resource)
      const { retryAfterSeconds = 0 } = failure
      t.match(failure, { reason: 'RateLimited', retry: 'transient' })
      t.ok(Math.abs(retryAfterSeconds - LIMIT_S) <= 1, `${retryAfterSeconds} s`)
      stage.requests()

      t.match(await stage.failure(resource), { reason: 'RateLimited', message: failure.message })
      t.match(await stage.failure(stage.resource({ headBranch: 'other' })), { reason: 'RateLimited' })
      stage.clock.now += (retryAfterSeconds - 1) * 1000
      t.match(await stage.failure(resource), { reason: 'RateLimited', retryAfterSeconds: 1 })
      t.strictSame(stage.requests(), [], 'nothing is asked until then')

      const login = loginWith('second-token')
      t.match(await stage.attempt(stage.resource(), { login }), { reason: 'Succeeded' })
      stage.clock.now += 1000
      t.match(await stage.attempt(resource), { reason: 'UpToDate' })
    },
  })),
  {
    title: 'a limit without a time is kept for a minute',
    async run(t, stage) {
      const answer = stage.dialect.answers.rateLimited(undefined)
      stage.server.fail({ kind: 'answer', answer }, (method) => method === 'POST')
      const resource = stage.resource()
      t.match(await stage.failure(resource), { reason: 'RateLimited', retryAfterSeconds: 60 })
      stage.requests()
      t.match(await stage.failure(resource), { reason: 'RateLimited' })
      t.strictSame(stage.requests(), [])
      stage.clock.now += 60_000
      t.match(await stage.attempt(resource), { reason: 'Succeeded' })
    },
  },
  ...[
    { status: 500, headers: {}, body: { message: 'Internal Server Error' }, after: undefined },
    { status: 502, headers: HTML(), body: '<html><body>Bad gateway</body></html>', after: undefined },
    { status: 503, headers: { 'retry-after': '120' }, body: 'Service Unavailable', after: 120 },
    {
      status: 504,
      headers: { 'content-type': 'application/json' },
      body: '{"message": "cut',
      after: undefined,
    },
    { status: 599, headers: {}, body: '', after: undefined },
  ].flatMap(({ after, ...answer }): readonly Case[] =>
    ['GET', 'POST'].map((which) => ({
      title: `${answer.status} to a ${which} is ProviderUnavailable, once, and passes`,
      async run(t, stage) {
        stage.server.fail({ kind: 'answer', answer }, (method) => method === which)
        const resource = stage.resource()
        const failure = await stage.failure(resource)
        t.match(failure, { reason: 'ProviderUnavailable', retry: 'transient', message: `${answer.status}` })
        t.equal(failure.retryAfterSeconds, after)
        const asked = stage.requests().filter(({ status }) => status === answer.status)
        t.equal(asked.length, 1, 'no library tries again by itself')
        t.match(await stage.attempt(resource, { again: true }), { reason: 'Succeeded' })
      },
    })),
  ),
  ...['GET', 'POST'].map((which): Case => ({
    title: `silence after a ${which} ends with the attempt's time, as Timeout`,
    async run(t, stage) {
      stage.server.fail({ kind: 'silence' }, (method) => method === which)
      const deadline = new AbortController()
      const resource = stage.resource()
      const ended = stage.failure(resource, { signal: deadline.signal })
      const unanswered = (): true | undefined =>
        stage.server.seen.some(({ status }) => status === 0) ? true : undefined
      await waitFor('request without an answer', unanswered, PATIENCE)
      deadline.abort(new DOMException('The time is over.', 'TimeoutError'))
      t.match(await ended, { reason: 'Timeout', retry: 'transient' })
      t.match(await stage.attempt(resource, { again: true }), { reason: 'Succeeded' })
    },
  })),
  {
    title: 'a creation whose answer is lost fails, and the next attempt finds what was opened',
    async run(t, stage) {
      stage.server.fail({ kind: 'lost answer' }, (method) => method === 'POST')
      const resource = stage.resource()
      t.match(await stage.failure(resource), { reason: 'NetworkError', retry: 'transient' })
      t.equal(stage.model.pulls.length, 1)
      t.match(await stage.attempt(resource, { again: true }), {
        reason: 'UpToDate',
        message: /^#1 is open: /,
      })
      t.equal(stage.requests().filter(({ method }) => method === 'POST').length, 1)
      t.equal(stage.model.pulls.length, 1, 'there is no second one')
    },
  },
  {
    title: 'a connection that is cut while looking is NetworkError, and nothing is opened',
    async run(t, stage) {
      stage.server.fail({ kind: 'lost answer' }, (method) => method === 'GET')
      t.match(await stage.failure(stage.resource()), { reason: 'NetworkError' })
      t.equal(stage.requests().length, 1)
      t.equal(stage.model.pulls.length, 0)
    },
  },
  {
    title: 'an attempt whose time is over makes no request',
    async run(t, stage) {
      t.match(await stage.failure(stage.resource(), { signal: AbortSignal.abort() }), { reason: 'Timeout' })
      t.strictSame(stage.requests(), [])
    },
  },
]

function HTML(): Readonly<Record<string, string>> {
  return { 'content-type': 'text/html; charset=utf-8' }
}
