import t from 'tap'
import type { Fetch } from '../../../functions/domain/pull-request/pull-requests.ts'
import { hostNamed } from '../../../functions/domain/repository/hosts.ts'
import { makeRequestShares } from '../../../functions/login/limits/request-shares.ts'

const URL_OF_API = 'https://api.bitbucket.org/2.0/repositories/acme/shop/pullrequests'
const PER_HOUR = hostNamed('bitbucket')?.requestsPerHour ?? NaN
const MINUTE = 60_000
const HOURLY = { most: PER_HOUR, within: 60 * MINUTE, changeCounts: 1, raisedBy: 'x-ratelimit-limit' }

/** A host that tells nothing but these headers, and two replicas, of which one is used; `now` is in milliseconds. */
function stage(headers: Readonly<Record<string, string>> = {}) {
  const clock = { now: 0 }
  const shares = makeRequestShares(() => clock.now)
  const made: number[] = []
  const fetch: Fetch = () => {
    made.push(clock.now)
    return Promise.resolve(new Response(null, { headers }))
  }
  /** Calls until one is refused, `most` times at most: how many were made, and that refusal. */
  async function call(owner: string, most = 1_000, login = 'login') {
    const shared = shares.share(fetch, { shared: login, owner, known: HOURLY })
    for (let calls = 0; calls < most; calls += 1) {
      const answer = await shared(URL_OF_API, { method: 'GET', headers: {} }).catch((error: unknown) => error)
      if (!(answer instanceof Response)) return { calls, refusal: answer as { retryAfterSeconds: number } }
    }
    return { calls: most, refusal: undefined }
  }
  return { clock, shares, made, call }
}

t.test(
  'where a host tells nothing, a namespace that calls without end leaves half of what is counted to others',
  async (t) => {
    const { clock, shares, call } = stage()
    const { calls, refusal } = await call('hog')
    t.ok(calls >= 250 && calls <= 251, `${calls} calls`)
    t.match(refusal, { reason: 'RateLimited', message: /^This namespace has had its share of the requests/ })
    t.ok(shares.isOwn(refusal))
    const other = await call('team')
    t.ok(other.calls >= 124 && other.calls <= 126, `${other.calls} calls`)
    t.ok((await call('hog', 1, 'another')).calls, 'another login')
    t.equal((await call('hog')).calls, 0)
    t.ok((refusal?.retryAfterSeconds ?? 0) > 3_000, 'it waits for what it has made to be an hour old')
    clock.now += 65 * MINUTE
    t.ok((await call('hog')).calls >= 250, 'the next hour')
  },
)

t.test(
  'two replicas leave requests to others, whoever calls without end, and however many they are',
  async (t) => {
    const replicas = [stage(), stage()]
    const total = async (owner: string, most?: number): Promise<number> => {
      const each = await Promise.all(replicas.map(({ call }) => call(owner, most)))
      return each.reduce((sum, { calls }) => sum + calls, 0)
    }
    const alone = await total('hog')
    t.ok(alone <= PER_HOUR / 2 + 2, `${alone} calls`)
    let all = alone
    for (let index = 0; index < 10; index += 1) all += await total(`hog-${index}`)
    t.ok(all < PER_HOUR * 0.95, `${all} calls`)
    t.equal(await total('team', 4), 8, 'a pull request in each')
  },
)

t.test('no hour has more than a share, whenever it begins', async (t) => {
  const { clock, made, call } = stage()
  await call('hog', 1)
  for (let minute = 59; minute < 400; minute += 20) {
    clock.now = minute * MINUTE
    await call('hog', 300)
  }
  const inHourOf = (begin: number): number =>
    made.filter((at) => at >= begin && at < begin + 60 * MINUTE).length
  const most = Math.max(...[...new Set(made)].map(inHourOf))
  t.ok(most <= 251, `${most} in an hour`)
  t.ok(made.length > 1_000, `${made.length} in all: what was an hour ago is made again`)
})

t.test('whoever waits as long as it is told may call again', async (t) => {
  const { clock, call } = stage()
  await call('hog', 100)
  clock.now += 20 * MINUTE
  await call('team', 1)
  let { refusal } = await call('hog')
  t.ok(refusal)
  clock.now += (refusal?.retryAfterSeconds ?? 0) * 1_000
  const { calls } = await call('hog')
  t.ok(calls >= 100, `${calls} calls of those that it had made first`)
  ;({ refusal } = await call('hog'))
  clock.now += (refusal?.retryAfterSeconds ?? 0) * 1_000
  t.ok((await call('hog')).calls > 0)
})

t.test('a login that the host allows more, as it tells, has shares of that', async (t) => {
  const { call } = stage({ 'x-ratelimit-limit': '2500', 'x-ratelimit-resource': 'api' })
  const { calls } = await call('hog')
  t.ok(calls >= 624 && calls <= 626, `${calls} calls`)
  const low = stage({ 'x-ratelimit-limit': '0' })
  t.ok((await low.call('hog')).calls >= 250, 'never less than is published')
})
