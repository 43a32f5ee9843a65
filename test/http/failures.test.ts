import t from 'tap'
import { errors } from 'undici'
import { Failure } from '../../functions/domain/failure.ts'
import { callFailure, codeOf, timedOut, unusable } from '../../functions/http/failures.ts'

const PLACE = 'git.example.com:8443'

for (const [error, reason, message] of [
  [
    new errors.SocketError('other side closed'),
    'NetworkError',
    /^git\.example\.com:8443 closed the connection/,
  ],
  [Object.assign(new Error('x'), { code: 'ECONNRESET' }), 'NetworkError', /closed the connection/],
  [new errors.HeadersOverflowError(), 'ProviderUnavailable', /more headers than the limit/],
  [new errors.HTTPParserError('x'), 'ProviderUnavailable', /something that is not HTTP/],
] as const) {
  t.test(`${error.name} (${codeOf(error)}) is reported as ${reason}`, async (t) => {
    t.match(callFailure(error, PLACE), { name: 'Failure', reason, message, cause: error })
  })
}

t.test('a Failure and a bug stay as they are', async (t) => {
  for (const error of [
    new Failure('Conflict', 'Enough.'),
    new TypeError('x'),
    new errors.InvalidArgumentError('x'),
    'thrown',
  ])
    t.equal(callFailure(error, PLACE), error)
})

t.test('a deadline is a Timeout, unless the signal has its own reason', async (t) => {
  const stopped = new Failure('Timeout', 'Stopped.')
  t.equal(timedOut(PLACE, stopped), stopped)
  t.match(timedOut(PLACE, AbortSignal.abort().reason), { reason: 'Timeout', retry: 'transient' })
})

t.test('an unusable answer is ProviderUnavailable', async (t) => {
  t.match(unusable('a hat', PLACE), {
    reason: 'ProviderUnavailable',
    message:
      'git.example.com:8443 answered with a hat; Commitlet retries automatically, and the administrator of that host has to check it.',
  })
})
