import t from 'tap'
import { headersFor, methodOf } from '../../functions/http/request.ts'
import { failureOf } from '../domain/fixtures/thrown.ts'

t.test('headers are in lower case, name the caller, and ask for plain bodies', async (t) => {
  t.strictSame(headersFor({ Authorization: 'Bearer t', 'Accept-Encoding': 'gzip' }, 'git.example.com'), {
    authorization: 'Bearer t',
    'user-agent': 'Commitlet',
    'accept-encoding': 'identity',
  })
  t.match(headersFor({ 'User-Agent': 'a client' }, 'git.example.com'), { 'user-agent': 'a client' })
})

for (const value of ['tök€n', 'two\nlines', 'nothing\0', '\u{1f511}']) {
  t.test(`what no header can carry is not sent: ${JSON.stringify(value)}`, async (t) => {
    const failure = failureOf(() => headersFor({ authorization: value }, 'git.example.com'))
    t.match(failure, { reason: 'CredentialsInvalid', retry: 'slow' })
    t.notMatch(failure.message, value)
  })
}

t.test('a method is one of those that APIs use', async (t) => {
  t.equal(methodOf('post'), 'POST')
  t.match(
    failureOf(() => methodOf('CONNECT')),
    { reason: 'Internal' },
  )
})
