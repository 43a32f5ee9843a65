import { generateKeyPairSync } from 'node:crypto'
import { mock } from 'node:test'
import t from 'tap'
import { readApp } from '../../functions/domain/credentials/app.ts'
import type { App } from '../../functions/domain/credentials/app.ts'
import { unlessAborted } from '../../functions/domain/deadline.ts'
import { Failure } from '../../functions/domain/failure.ts'
import { parseRepositoryAddress } from '../../functions/domain/repository/address.ts'
import { targetOf } from '../../functions/domain/repository/target.ts'
import type { Kind } from '../../functions/domain/resource/api-names.ts'
import { keepTokens } from '../../functions/login/app-tokens.ts'
import type { AppTokenRequest } from '../../functions/world.ts'

function makeApp(id: string, installation?: string): App {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const pem = Buffer.from(privateKey.export({ type: 'pkcs1', format: 'pem' }))
  const app = readApp({ id, installation, privateKey: pem })
  if (!('id' in app)) throw new Error(app.join(' '))
  const places = { id: 'a', installation: 'b', privateKey: 'c' }
  return { ...app, source: ['team', 'app'], places, shown: 'The App', secrets: [] }
}

const APP = makeApp('1')
const MINUTE_MS = 60_000
const NEVER = new Promise<undefined>(() => undefined)

function asking(
  repository: string,
  app = APP,
  kind: Kind = 'PullRequest',
  namespace = 'team',
): AppTokenRequest {
  const target = targetOf(kind, parseRepositoryAddress(`https://github.com/${repository}`))
  return { app, target, kind, namespace, signal: new AbortController().signal }
}

/** Tokens of a host that issues one after the other, with a clock that a test sets. */
function stage(seconds = 3_600, ending = '') {
  let ms = 1_000
  const asked: AppTokenRequest[] = []
  const tokens = keepTokens(
    async (request) => {
      const token = `token-${asked.push(request)}${ending}`
      await Promise.resolve()
      const { installation = '81' } = request.app
      return { token, installation, seconds }
    },
    () => ms,
  )
  return { tokens, asked, wait: (minutes: number) => (ms += minutes * MINUTE_MS) }
}

t.test('1,000 PullRequests of one installation ask for one token for each repository and hour', async (t) => {
  const { tokens, asked, wait } = stage()
  const open = (): Promise<unknown> =>
    Promise.all(Array.from({ length: 1_000 }, (_, n) => tokens(asking(`acme/repository-${n % 50}`))))
  await open()
  wait(30)
  await open()
  t.equal(asked.length, 50)
  wait(26)
  await open()
  t.equal(asked.length, 100)
})

t.test('a token is replaced five minutes before its end', async (t) => {
  const { tokens, wait } = stage()
  t.match(await tokens(asking('acme/shop')), { token: 'token-1' })
  wait(54)
  t.match(await tokens(asking('Acme/SHOP')), { token: 'token-1' }, 'GitHub ignores case')
  wait(2)
  t.match(await tokens(asking('acme/shop')), { token: 'token-2' })
})

t.test('a token that lasts for less is used and not kept, one that lasts longer for an hour', async (t) => {
  const short = stage(290)
  await short.tokens(asking('acme/shop'))
  t.match(await short.tokens(asking('acme/shop')), { token: 'token-2' })
  const long = stage(1e9)
  await long.tokens(asking('acme/shop'))
  long.wait(56)
  t.match(await long.tokens(asking('acme/shop')), { token: 'token-2' })
})

t.test('nobody gets the token of another key, installation, repository or kind', async (t) => {
  const { tokens, asked } = stage()
  await tokens(asking('acme/shop'))
  const others = [
    asking('acme/shop', makeApp('1')),
    asking('acme/shop', { ...APP, id: '2' }),
    asking('acme/shop', { ...APP, installation: '81' }),
    asking('acme/other'),
    asking('acme/shop', APP, 'GitCommit'),
  ]
  const found = await Promise.all(others.map((one) => tokens(one)))
  t.equal(new Set(found.map(({ token }) => token)).size, others.length)
  t.equal(asked.length, 1 + others.length)
  await tokens(asking('acme/shop', APP, 'PullRequest', 'another'))
  t.equal(asked.length, 1 + others.length, 'whoever has the key may have the token')
})

t.test(
  'the requests of an installation are counted together, whatever the repository and the key',
  async (t) => {
    const { tokens } = stage()
    const { counted } = await tokens(asking('acme/shop'))
    t.equal((await tokens(asking('acme/other', makeApp('1'), 'GitCommit'))).counted, counted)
    t.not((await tokens(asking('acme/other', { ...APP, installation: '82' }))).counted, counted)
    t.not((await tokens(asking('acme/other', { ...APP, id: '2' }))).counted, counted)
  },
)

t.test('a token that was forgotten is asked for again, and a newer one is not forgotten', async (t) => {
  const { tokens } = stage()
  const first = await tokens(asking('acme/shop'))
  first.forget()
  t.match(await tokens(asking('acme/shop')), { token: 'token-2' })
  first.forget()
  t.match(await tokens(asking('acme/shop')), { token: 'token-2' })
})

t.test('what fails is not kept, and each namespace asks for itself', async (t) => {
  const asked: string[] = []
  const tokens = keepTokens(
    async ({ namespace }) => {
      asked.push(namespace)
      return Promise.reject(new Failure('AuthenticationFailed', 'No.'))
    },
    () => 0,
  )
  const requests = ['one', 'one', 'two'].map((namespace) => asking('acme/shop', APP, 'GitCommit', namespace))
  for (const request of requests) tokens(request).catch(() => undefined)
  t.strictSame(asked, ['one', 'two'])
  await t.rejects(Promise.all(requests.map((one) => tokens(one))), {
    name: 'Failure',
    reason: 'AuthenticationFailed',
  })
  await t.rejects(tokens(asking('acme/shop', APP, 'GitCommit', 'one')), {
    name: 'Failure',
    reason: 'AuthenticationFailed',
  })
  t.strictSame(asked, ['one', 'two', 'one'])
})

t.test('an attempt that is out of time does not wait, and others go on', async (t) => {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  const tokens = keepTokens(
    async ({ signal }) => {
      await promise
      signal.throwIfAborted()
      return { token: 'late', installation: '81', seconds: 3_600 }
    },
    () => 0,
  )
  const ending = new AbortController()
  const hasty = tokens({ ...asking('acme/shop'), signal: ending.signal })
  const patient = tokens(asking('acme/shop'))
  ending.abort()
  await t.rejects(hasty, { reason: 'Timeout', message: /before the API had issued a token for https:/ })
  resolve(undefined)
  t.match(await patient, { token: 'late' })
})

t.test('once nobody waits for a token any more, the host is asked for two seconds more', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const asked: AbortSignal[] = []
  const answer = Promise.withResolvers<undefined>()
  const tokens = keepTokens(
    async ({ signal }) => {
      asked.push(signal)
      const number = asked.length
      await unlessAborted(number === 2 ? NEVER : answer.promise, signal)
      return { token: `token-${number}`, installation: '81', seconds: 3_600 }
    },
    () => 0,
  )
  const leave = async (repository = 'acme/shop'): Promise<void> => {
    const ending = new AbortController()
    const left = tokens({ ...asking(repository), signal: ending.signal })
    ending.abort()
    await t.rejects(left, { name: 'Failure', reason: 'Timeout' })
  }
  await leave()
  mock.timers.tick(1_900)
  await leave()
  t.equal(asked.length, 1, 'who comes in that time waits for the same answer')
  mock.timers.tick(1_900)
  t.equal(asked[0]?.aborted, false)
  const waiting = tokens(asking('acme/shop'))
  mock.timers.tick(20_000)
  t.equal(asked[0]?.aborted, false, 'while somebody waits')
  t.equal(asked.length, 1)
  await leave()
  answer.resolve(undefined)
  t.match(await waiting, { token: 'token-1' })
  const late = asking('acme/other')
  await leave('acme/other')
  mock.timers.tick(2_000)
  t.equal(asked[1]?.aborted, true)
  t.match(await tokens(late), { token: 'token-3' }, 'whoever comes then asks again')
})

t.test('however many tokens a namespace gets, those of another one are kept', async (t) => {
  const { tokens, asked } = stage()
  const quiet = asking('acme/shop', APP, 'PullRequest', 'quiet')
  await tokens(quiet)
  for (let n = 0; n <= 6_000; n += 1) await tokens(asking(`acme/repository-${n}`, APP, 'PullRequest', 'loud'))
  t.equal(asked.length, 6_002)
  t.match(await tokens(quiet), { token: 'token-1' })
  t.match(await tokens(asking('acme/repository-6000', APP, 'PullRequest', 'loud')), { token: 'token-6002' })
  t.match(await tokens(asking('acme/repository-0', APP, 'PullRequest', 'loud')), { token: 'token-6003' })
})

t.test('tokens that are long take the room of as many others', async (t) => {
  const { tokens, asked } = stage(3_600, 'x'.repeat(8_000))
  for (let n = 0; n < 400; n += 1) await tokens(asking(`acme/repository-${n}`))
  t.equal(asked.length, 400)
  await tokens(asking('acme/repository-399'))
  t.equal(asked.length, 400)
  await tokens(asking('acme/repository-0'))
  t.equal(asked.length, 401)
})
