import t from 'tap'
import { Failure } from '../../../functions/domain/failure.ts'
import { nextDelay } from '../../../functions/domain/resource/backoff.ts'

const tries = { attempts: 1, limit: 12, elapsedSeconds: 0, random: 1 }

t.test('a failure that a retry does not help is final at once', async (t) => {
  t.equal(nextDelay(new Failure('PushRejected', 'No.'), tries), 'final')
})

t.test('a transient failure waits longer each time, with full jitter', async (t) => {
  const failure = new Failure('NetworkError', 'No answer.')
  t.equal(nextDelay(failure, tries), 5)
  t.equal(nextDelay(failure, { ...tries, attempts: 2 }), 12)
  t.equal(nextDelay(failure, { ...tries, attempts: 10 }), 10_930)
  t.equal(nextDelay(failure, { ...tries, attempts: 11, random: 0 }), 1, 'but never comes back at once')
})

t.test('twelve attempts last about six hours on average', async (t) => {
  const failure = new Failure('NetworkError', 'No answer.')
  let sum = 0
  for (let attempts = 1; attempts < 12; attempts += 1) {
    sum += Number(nextDelay(failure, { ...tries, attempts, random: 0.5 }))
  }
  t.ok(sum > 5.5 * 3600 && sum < 6.5 * 3600, `${sum} s`)
})

t.test('two attempts are never more than 6 h apart, whatever RETRY_LIMIT says', async (t) => {
  const failure = new Failure('NetworkError', 'No answer.')
  for (const attempts of [11, 34, 99]) {
    t.equal(nextDelay(failure, { ...tries, limit: 100, attempts }), 6 * 3600, `after attempt ${attempts}`)
  }
})

t.test('the twelfth failed attempt exhausts the budget', async (t) => {
  t.equal(nextDelay(new Failure('Timeout', 'Late.'), { ...tries, attempts: 12 }), 'exhausted')
})

t.test('the remote is given the time that it asks for, up to an hour', async (t) => {
  t.equal(nextDelay(new Failure('RateLimited', 'Slow down.', { retryAfterSeconds: 77 }), tries), 77)
  t.equal(nextDelay(new Failure('RateLimited', 'Slow down.', { retryAfterSeconds: 86_400 }), tries), 3600)
})

t.test('a rate limit is retried for a day, at most an hour apart, however often', async (t) => {
  const failure = new Failure('RateLimited', 'Slow down.', { retryAfterSeconds: 60 })
  t.equal(nextDelay(failure, { ...tries, attempts: 400, elapsedSeconds: 86_399 }), 3600)
  t.equal(nextDelay(failure, { ...tries, attempts: 400, random: 0 }), 60)
  t.equal(nextDelay(failure, { ...tries, elapsedSeconds: 86_400 }), 'exhausted')
})

t.test(
  'a slow failure is retried after 5 min, 30 min, 2 h, 6 h and 6 h, however late the sweep comes',
  async (t) => {
    const failure = new Failure('PermissionDenied', 'No write access.')
    const looks: readonly (readonly [number, number | 'final'])[] = [
      [0, 300],
      [330, 1770],
      [2_130, 7_170],
      [9_330, 21_570],
      [30_930, 21_570],
      [52_530, 'final'],
    ]
    for (const [elapsedSeconds, expected] of looks) {
      t.equal(
        nextDelay(failure, { ...tries, attempts: 40, elapsedSeconds }),
        expected,
        `after ${elapsedSeconds} s`,
      )
    }
  },
)

t.test('a failure may set for itself whether a retry helps', async (t) => {
  const failure = new Failure('ReferenceForbidden', 'The service account lacks the right.', { retry: 'slow' })
  t.equal(nextDelay(failure, tries), 300)
})

t.test('what was missing is looked for during ten minutes, and then retried as any other', async (t) => {
  const failure = new Failure('ReferenceNotFound', 'No.')
  const looks = { ...tries, looks: true }
  t.equal(nextDelay(failure, looks), 600)
  t.equal(nextDelay(failure, { ...looks, attempts: 3, elapsedSeconds: 590.5 }), 10)
  t.equal(nextDelay(failure, { ...looks, elapsedSeconds: 600 }), nextDelay(failure, tries))
  t.equal(nextDelay(failure, tries), 5, 'nobody knows what was missing')
  t.equal(nextDelay(failure, { ...looks, attempts: 40 }), 600, 'what comes one by one starts many attempts')
  t.equal(nextDelay(failure, { ...tries, attempts: 12, before: 'ReferenceNotFound' }), 'exhausted')
})

t.test('the first transient failure after others that may be many is not the last one', async (t) => {
  const failure = new Failure('NetworkError', 'No answer.')
  const many = { ...tries, attempts: 40, random: 0 }
  for (const before of [
    'RateLimited',
    'AuthenticationFailed',
    'NotSupported',
    'ReferenceNotFound',
  ] as const) {
    t.equal(nextDelay(failure, { ...many, before }), 1, before)
    t.equal(
      nextDelay(failure, { ...many, before, elapsedSeconds: 86_400 }),
      'exhausted',
      `${before} a day ago`,
    )
  }
  t.equal(nextDelay(failure, { ...many, before: 'Timeout' }), 'exhausted')
})
