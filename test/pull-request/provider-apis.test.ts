import { readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import t from 'tap'
import type { ApiLogin } from '../../functions/domain/credentials/login.ts'
import { Failure } from '../../functions/domain/failure.ts'
import { hostNamed, HOSTS } from '../../functions/domain/repository/hosts.ts'
import { makeApiLimits } from '../../functions/login/limits/api-limits.ts'
import { openProviders, PROVIDERS } from '../../functions/pull-request/provider-apis.ts'
import type { ApiTarget } from '../../functions/domain/pull-request/pull-requests.ts'
import { followTrust } from '../../functions/net/trust.ts'
import { recordingMeter } from '../harness/recording-meter.ts'
import { waitFor } from '../harness/wait.ts'
import { CA_FILE } from '../http/stage.ts'

const NEVER = new AbortController().signal
const LIMITED = new Failure('RateLimited', 'Fewer, please.', { retryAfterSeconds: 60 })

function targetOf(more: Partial<ApiTarget> = {}): ApiTarget {
  const host = hostNamed('github')
  if (host === undefined) throw new Error('There is no such host.')
  return {
    host,
    baseURL: 'https://git.example.com/api/v3',
    repository: ['acme', 'shop'],
    shown: 'https://git.example.com/acme/shop.git',
    branches: { base: 'main', head: 'settings', headOwner: undefined },
    permit: () => undefined,
    ...more,
  }
}

function by(secret = 'a', signal = NEVER) {
  const login: ApiLogin = { username: undefined, secret, identity: 'x', secrets: [secret] }
  return { login, signal }
}

/** Sessions with APIs without a server, and a clock that does not move; `looks` counts the sessions. */
function stage() {
  const clock = { now: 1_000_000 }
  const count = { looks: 0 }
  const settings = {
    resolve() {
      count.looks += 1
      return Promise.resolve(['127.0.0.1'])
    },
    proxies: { proxy: undefined, exceptions: [] },
    insecureHosts: [],
    trust: followTrust(CA_FILE),
  }
  return {
    clock,
    count,
    use: openProviders(
      settings,
      makeApiLimits(() => clock.now),
    ),
  }
}

t.test('there is a folder for each row, and a row for each folder', async (t) => {
  const names = HOSTS.map(({ name }) => name)
  t.same(Object.keys(PROVIDERS), names)
  const entries = readdirSync(join(import.meta.dirname, '../../functions/providers'), { withFileTypes: true })
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
  t.same(folders.sort(), names.toSorted())
  for (const name of names) t.type((await PROVIDERS[name]?.())?.default, 'function', name)
})

t.test('a host without a file is named', async (t) => {
  const host = { ...targetOf().host, name: 'cvs' }
  await t.rejects(
    stage().use(targetOf({ host }), by(), () => Promise.resolve()),
    {
      reason: 'NotSupported',
      message: 'Pull requests on cvs are not supported yet.',
    },
  )
})

t.test('the tokens of one installation of an App share a limit, and those of another do not', async (t) => {
  const { use } = stage()
  const issued = (token: string, counted: string) => {
    const { login } = by(token)
    return { login: { ...login, issued: { counted, forget: () => undefined } }, signal: NEVER }
  }
  await t.rejects(
    use(targetOf(), issued('one', 'acme'), () => Promise.reject(LIMITED)),
    LIMITED,
  )
  await t.rejects(
    use(targetOf({ repository: ['acme', 'other'] }), issued('two', 'acme'), () => Promise.resolve('called')),
    { name: 'Failure', reason: 'RateLimited' },
  )
  t.equal(await use(targetOf(), issued('three', 'market'), () => Promise.resolve('called')), 'called')
})

t.test('an attempt in the queue leaves when its time is over, and never calls', async (t) => {
  const { use, count } = stage()
  const first = Promise.withResolvers<string>()
  const running = [1, 2].map(() => use(targetOf(), by(), () => first.promise))
  await waitFor('two calls', () => (count.looks === 2 ? true : undefined), 5_000)
  const time = new AbortController()
  const waiting = use(targetOf(), by('a', time.signal), () => Promise.resolve('called'))
  const expired = use(targetOf(), by('c', AbortSignal.abort()), () => Promise.resolve('called'))
  time.abort()
  for (const late of [waiting, expired])
    await t.rejects(late, {
      reason: 'Timeout',
      message: /^The attempt ran out of time before the API of https:\/\/git\.example\.com\/acme\/shop\.git/,
    })
  first.resolve('done')
  t.strictSame(await Promise.all(running), ['done', 'done'])
  t.equal(await use(targetOf(), by(), () => Promise.resolve('next')), 'next')
  t.equal(count.looks, 3, 'the first two and the next')
})

t.test('a deadline during the work is left to the work', async (t) => {
  const { use } = stage()
  const time = new AbortController()
  const own = new Failure('Timeout', 'Said by the call.')
  const ended = use(targetOf(), by('a', time.signal), async () => {
    time.abort()
    throw own
  })
  t.equal(await ended.catch((error: unknown) => error), own)
})

t.test('two attempts call at once with the same token, and with another one more', async (t) => {
  const { use } = stage()
  const end = Promise.withResolvers<undefined>()
  const begun: string[] = []
  const call = (head: string, token: string): Promise<void> =>
    use(targetOf({ branches: { base: 'main', head, headOwner: undefined } }), by(token), async () => {
      begun.push(head)
      await end.promise
    })
  const calls = [call('one', 'a'), call('two', 'a'), call('three', 'a'), call('four', 'b')]
  await waitFor('three calls', () => (begun.length === 3 ? true : undefined), 5_000)
  t.same(begun.toSorted(), ['four', 'one', 'two'])
  end.resolve(undefined)
  await Promise.all(calls)
  t.equal(begun.at(-1), 'three')
})

t.test('who waits for a token keeps nobody from the same branches with another token', async (t) => {
  const { use } = stage()
  const end = Promise.withResolvers<undefined>()
  const begun: string[] = []
  const call = (head: string, token: string, work: () => Promise<undefined>): Promise<undefined> =>
    use(targetOf({ branches: { base: 'main', head, headOwner: undefined } }), by(token), () => {
      begun.push(head + token)
      return work()
    })
  const slow = (head: string): Promise<undefined> => call(head, 'a', () => end.promise)
  const calls = [slow('one'), slow('two'), slow('shared'), slow('shared')]
  await call('shared', 'b', () => Promise.resolve(undefined))
  t.same(begun, ['onea', 'twoa', 'sharedb'])
  end.resolve(undefined)
  await Promise.all(calls)
  t.same(begun.slice(3), ['shareda', 'shareda'])
})

t.test('while a limit holds, its credentials are not used with that API, and others are', async (t) => {
  const { use, clock, count } = stage()
  t.equal(
    await use(targetOf(), by(), () => Promise.reject(LIMITED)).catch((error: unknown) => error),
    LIMITED,
  )
  clock.now += 20_000
  for (const expected of [40, 40]) {
    const refused = use(targetOf({ repository: ['acme', 'other'] }), by(), () => Promise.resolve('called'))
    t.match(await refused.catch((error: unknown) => error), {
      reason: 'RateLimited',
      message: 'Fewer, please.',
      retryAfterSeconds: expected,
    })
  }
  t.equal(count.looks, 1)
  t.equal(await use(targetOf(), by('b'), () => Promise.resolve('called')), 'called')
  const baseURL = 'https://git.example.org/api/v3'
  t.equal(await use(targetOf({ baseURL }), by(), () => Promise.resolve('called')), 'called')
  clock.now += 40_000
  t.equal(await use(targetOf(), by(), () => Promise.resolve('called')), 'called')
})

t.test('an attempt in the queue behind those that met the limit does not call', async (t) => {
  const { use, count } = stage()
  const first = [1, 2].map(() => use(targetOf(), by(), () => Promise.reject(LIMITED)))
  const next = use(targetOf(), by(), () => Promise.resolve('called'))
  const [one, two, three] = await Promise.allSettled([...first, next])
  t.match(
    [one, two, three],
    [{ reason: LIMITED }, { reason: LIMITED }, { reason: { reason: 'RateLimited' } }],
  )
  t.equal(count.looks, 2)
})

t.test('a refusal because of a remembered limit does not prolong the limit', async (t) => {
  const { use, clock } = stage()
  await use(targetOf(), by(), () => Promise.reject(LIMITED)).catch(() => undefined)
  clock.now += 59_900
  await use(targetOf(), by(), () => Promise.resolve('called')).catch(() => undefined)
  clock.now += 100
  t.equal(await use(targetOf(), by(), () => Promise.resolve('called')), 'called')
})

t.test('a call is measured by the provider, with its status and the bytes of both bodies', async (t) => {
  const server = createServer((_request, response) => void response.writeHead(404).end('{"message":"no"}'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const { meter, recorded } = recordingMeter()
  const settings = {
    resolve: () => Promise.resolve(['127.0.0.1']),
    proxies: { proxy: undefined, exceptions: [] },
    insecureHosts: [{ host: 'git.example.com', port }],
    trust: followTrust(CA_FILE),
  }
  const use = openProviders(
    settings,
    makeApiLimits(() => 0),
    meter,
  )
  const target = targetOf({ baseURL: `http://git.example.com:${port}/api/v3` })
  await use(target, by(), (api) => api.find(target.branches, 'open')).catch(() => undefined)
  const [[, labels, seconds] = [], ...bytes] = recorded
  t.match(labels, { provider: 'github', method: 'GET', code: '404' })
  t.ok(Number(seconds) > 0)
  t.strictSame(bytes, [
    ['provider_bytes_total', { provider: 'github', direction: 'sent' }, 0],
    ['provider_bytes_total', { provider: 'github', direction: 'received' }, 16],
  ])
})
