import t from 'tap'
import { makeRateLimits } from '../../../functions/login/limits/rate-limits.ts'
import { Failure } from '../../../functions/domain/failure.ts'
import { failureOf } from '../../domain/fixtures/thrown.ts'

function limited(retryAfterSeconds?: number, message = 'Fewer requests.'): Failure {
  return new Failure('RateLimited', message, retryAfterSeconds === undefined ? {} : { retryAfterSeconds })
}

/** Limits with a clock that is fixed at `at.now` milliseconds. */
function setUp() {
  const at = { now: 1_000_000 }
  return { at, limits: makeRateLimits(() => at.now) }
}

t.test('a limit holds for its key until it ends, with the message of the first one', async (t) => {
  const { at, limits } = setUp()
  const failure = limited(90)
  t.equal(limits.record('one', failure), failure, 'it is passed on')
  t.match(
    failureOf(() => limits.check('one')),
    { reason: 'RateLimited', message: 'Fewer requests.', retryAfterSeconds: 90 },
  )
  limits.check('other')
  at.now += 89_001
  t.equal(failureOf(() => limits.check('one')).retryAfterSeconds, 1)
  at.now += 999
  t.doesNotThrow(() => limits.check('one'))
})

t.test('only a limit with a time is remembered', async (t) => {
  const { limits } = setUp()
  const others = [
    limited(),
    limited(0),
    limited(-5),
    limited(NaN),
    new Failure('ProviderUnavailable', 'Later.', { retryAfterSeconds: 60 }),
    new Error('a bug'),
    'thrown',
    undefined,
  ]
  for (const error of others) {
    t.equal(limits.record('key', error), error)
    t.doesNotThrow(() => limits.check('key'), String(error))
  }
})

t.test('asking does not prolong a limit, however often', async (t) => {
  const { at, limits } = setUp()
  limits.record('key', limited(10))
  for (let asked = 0; asked < 20; asked += 1) {
    at.now += 499
    limits.record(
      'key',
      failureOf(() => limits.check('key')),
    )
  }
  at.now += 20
  t.doesNotThrow(() => limits.check('key'))
})

t.test('the later of two ends counts, and none is more than an hour away', async (t) => {
  const { limits } = setUp()
  limits.record('key', limited(600))
  limits.record('key', limited(60))
  t.equal(failureOf(() => limits.check('key')).retryAfterSeconds, 600)
  limits.record('key', limited(1e12))
  t.equal(failureOf(() => limits.check('key')).retryAfterSeconds, 3_600)
})

t.test('beyond 10,000 keys the oldest is forgotten', async (t) => {
  const { limits } = setUp()
  for (let key = 0; key < 10_000; key += 1) limits.record(`key ${key}`, limited(60))
  limits.record('key 0', limited(60))
  limits.record('one more', limited(60))
  t.doesNotThrow(() => limits.check('key 1'))
  for (const key of ['key 0', 'key 2', 'key 9999', 'one more']) t.throws(() => limits.check(key), key)
})
