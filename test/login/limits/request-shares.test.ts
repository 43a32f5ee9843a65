import t from 'tap'
import { Failure } from '../../../functions/domain/failure.ts'
import type { Fetch } from '../../../functions/domain/pull-request/pull-requests.ts'
import { makeApiLimits } from '../../../functions/login/limits/api-limits.ts'
import { makeRequestShares } from '../../../functions/login/limits/request-shares.ts'

const URL_OF_API = 'https://api.github.com/repos/acme/shop/pulls'
const DATE = 'Thu, 26 Nov 2026 22:00:00 GMT'
const SECONDS = Date.parse(DATE) / 1000
const HOUR = 3_600

/** A host that allows so many requests until then, and tells of it in headers that begin so. */
function hostThatAllows(most: number, ends = SECONDS + HOUR, prefix = 'x-ratelimit') {
  const host = { left: most, ends }
  const fetch: Fetch = () => {
    host.left -= 1
    const headers = { [`${prefix}-remaining`]: String(host.left), [`${prefix}-reset`]: String(host.ends) }
    return Promise.resolve(new Response(null, { headers: { date: DATE, ...headers } }))
  }
  return { host, fetch }
}

/** How many calls are made before one is refused, and that refusal; there is none after three thousand. */
async function callsOf(fetch: Fetch): Promise<{ calls: number; refusal: unknown }> {
  for (let calls = 0; calls < 3_000; calls += 1) {
    const answer = await fetch(URL_OF_API, { method: 'GET', headers: {} }).catch((error: unknown) => error)
    if (!(answer instanceof Response)) return { calls, refusal: answer }
  }
  return { calls: 3_000, refusal: undefined }
}

t.test(
  'a namespace that calls without end leaves half of the requests of a login, and the next one half of these',
  async (t) => {
    for (const prefix of ['x-ratelimit', 'ratelimit']) {
      let now = 0
      const shares = makeRequestShares(() => now)
      const { host, fetch } = hostThatAllows(1_000, SECONDS + HOUR, prefix)
      const { calls, refusal } = await callsOf(shares.share(fetch, { shared: 'login', owner: 'hog' }))
      t.ok(calls >= 500 && calls <= 502, `${calls} calls`)
      const message = /^This namespace has had its share/
      t.match(refusal, { reason: 'RateLimited', retryAfterSeconds: HOUR, message })
      t.ok(shares.isOwn(refusal))
      t.notOk(shares.isOwn(new Failure('RateLimited', 'The host says so.')))
      const other = await callsOf(shares.share(fetch, { shared: 'login', owner: 'team' }))
      t.ok(other.calls >= 249 && other.calls <= 251, `${other.calls} calls`)
      t.ok(host.left > 200)

      const again = await shares.share(fetch, { shared: 'another', owner: 'hog' })(URL_OF_API, {
        method: 'GET',
        headers: {},
      })
      t.ok(again.ok, 'another login')
      now += HOUR * 1_000
      Object.assign(host, { left: 1_000, ends: host.ends + HOUR })
      t.ok(
        (await callsOf(shares.share(fetch, { shared: 'login', owner: 'hog' }))).calls >= 500,
        'the next hour',
      )
    }
  },
)

t.test('namespaces that call without end leave requests to others, however many they are', async (t) => {
  const shares = makeRequestShares(() => 0)
  const { host, fetch } = hostThatAllows(5_000)
  for (let index = 0; index < 10; index += 1)
    await callsOf(shares.share(fetch, { shared: 'login', owner: `hog-${index}` }))
  t.ok(host.left > 250, `${host.left} are left`)
  const { calls } = await callsOf(shares.share(fetch, { shared: 'login', owner: 'team' }))
  t.ok(calls >= 39, `${calls} calls`)
})

t.test('a host that tells of no limit has none', async (t) => {
  const shares = makeRequestShares(() => 0)
  const fetch: Fetch = () =>
    Promise.resolve(new Response(null, { headers: { date: DATE, 'x-ratelimit-remaining': '0' } }))
  const shared = shares.share(fetch, { shared: 'login', owner: 'team' })
  for (let calls = 0; calls < 100; calls += 1)
    t.ok((await shared(URL_OF_API, { method: 'GET', headers: {} })).ok)
})

t.test(
  "with the operator's login a namespace that has had its share is no limit for others, and with others it has none",
  async (t) => {
    const limits = makeApiLimits(() => 0)
    const { host, fetch } = hostThatAllows(100)
    const { signal } = new AbortController()
    const late = (): Failure => new Failure('Timeout', 'late')
    const login = { baseURL: 'https://api.github.com', username: undefined, secret: 'token' }
    const callAs = (owner: string, counted = {}): Promise<{ calls: number; refusal: unknown }> =>
      limits
        .run({ ...login, ...counted }, { owner, signal, late }, async (_turn, share) => {
          const ended = await callsOf(share(fetch, 'REST'))
          throw Object.assign(ended.refusal as Error, { ended })
        })
        .catch((error: unknown) => (error as { ended: { calls: number; refusal: unknown } }).ended)
    const operators = { ofOperator: true } as const
    t.ok((await callAs('hog', operators)).calls >= 50)
    t.ok((await callAs('team', operators)).calls >= 20)
    const isEmpty: Fetch = (url, init) =>
      host.left <= 0 ? Promise.reject(new Failure('Timeout', 'nothing is left')) : fetch(url, init)
    const { left } = host
    await limits.run(login, { owner: 'hog', signal, late }, async (_turn, share) => {
      t.equal((await callsOf(share(isEmpty, 'REST'))).calls, left)
    })
  },
)
