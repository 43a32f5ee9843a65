import t from 'tap'
import { guardAddresses } from '../../functions/net/addresses.ts'
import { Failure } from '../../functions/domain/failure.ts'

const NEVER = new AbortController().signal
const ANYWHERE = { inCluster: false, apiServer: [] }
const FORBIDDEN =
  /^[^ ]+ is at an address that Commitlet may not connect to; name a repository on another host, or ask /

function answering(...addresses: readonly string[]): () => Promise<readonly string[]> {
  return () => Promise.resolve(addresses)
}

t.test('every address of a host is returned, in the order of DNS', async (t) => {
  const resolve = guardAddresses(ANYWHERE, answering('2001:db8::7', '192.0.2.7'))
  t.same(await resolve('git.example.com', 443, NEVER), ['2001:db8::7', '192.0.2.7'])
})

t.test('one forbidden address among several is enough for a refusal', async (t) => {
  const resolve = guardAddresses(ANYWHERE, answering('192.0.2.7', '169.254.169.254', '192.0.2.8'))
  await t.rejects(resolve('git.example.com', 443, NEVER), {
    reason: 'AddressForbidden',
    retry: 'slow',
    message: FORBIDDEN,
  })
})

t.test('an IP address is checked without being looked up', async (t) => {
  const resolve = guardAddresses(ANYWHERE, () => Promise.reject(new Error('asked')))
  t.same(await resolve('192.0.2.7', 443, NEVER), ['192.0.2.7'])
  for (const host of ['169.254.169.254', 'fe80::1', '::ffff:a9fe:a9fe'])
    await t.rejects(resolve(host, 443, NEVER), { reason: 'AddressForbidden', message: FORBIDDEN })
})

t.test('an IPv4 address is the same one however it is written', async (t) => {
  const resolve = guardAddresses(ANYWHERE, answering('192.0.2.7', '::ffff:192.0.2.7', '2001:db8::7'))
  t.same(await resolve('git.example.com', 22, NEVER), ['192.0.2.7', '2001:db8::7'])
  t.same(await resolve('::ffff:c000:207', 22, NEVER), ['192.0.2.7'])
  t.same(await resolve('2001:db8::ffff:c000:207', 22, NEVER), ['2001:db8::ffff:c000:207'])
})

t.test('loopback is forbidden only in a cluster', async (t) => {
  const inside = guardAddresses({ ...ANYWHERE, inCluster: true })
  await t.rejects(inside('localhost', 443, NEVER), { reason: 'AddressForbidden', message: FORBIDDEN })
  const reviewContext = guardAddresses(ANYWHERE)
  t.ok((await reviewContext('localhost', 443, NEVER)).length > 0)
})

t.test('the API server is forbidden under any name', async (t) => {
  const names: Readonly<Record<string, string>> = {
    'api.example.com': '192.0.2.1',
    'git.example.com': '192.0.2.1',
  }
  const asked: string[] = []
  const apiServer = [
    { host: 'api.example.com', port: 6443 },
    { host: '10.96.0.1', port: 443 },
  ]
  const resolve = guardAddresses({ inCluster: false, apiServer }, (host) => {
    asked.push(host)
    return Promise.resolve([names[host] ?? '10.96.0.1'])
  })
  await t.rejects(resolve('git.example.com', 6443, NEVER), { reason: 'AddressForbidden', message: FORBIDDEN })
  await t.rejects(resolve('kubernetes.default.svc', 443, NEVER), {
    reason: 'AddressForbidden',
    message: FORBIDDEN,
  })
  asked.length = 0
  t.same(await resolve('git.example.com', 22, NEVER), ['192.0.2.1'])
  t.same(asked, ['git.example.com'], 'the API server is not looked up for another port')
})

t.test('where the API server cannot be found, the repository is what the sentence names', async (t) => {
  const apiServer = [{ host: 'api.example.com', port: 443 }]
  for (const answer of [
    Promise.reject(Object.assign(new Error('x'), { code: 'ENOTFOUND' })),
    Promise.resolve([]),
  ]) {
    const resolve = guardAddresses({ inCluster: false, apiServer }, (host) =>
      host === 'api.example.com' ? answer : Promise.resolve(['192.0.2.7']),
    )
    await t.rejects(resolve('git.example.com', 443, NEVER), {
      reason: 'NetworkError',
      message:
        'git.example.com cannot be reached: DNS does not answer at the moment; Commitlet retries automatically.',
      cause: { message: /^api\.example\.com / },
    })
    t.same(await resolve('git.example.com', 22, NEVER), ['192.0.2.7'], 'at another port it does not matter')
  }
})

for (const [title, answer, message] of [
  [
    'does not know the name',
    Object.assign(new Error('x'), { code: 'ENOTFOUND' }),
    /not known to DNS; check the spelling/,
  ],
  [
    'cannot tell',
    Object.assign(new Error('x'), { code: 'EAI_AGAIN' }),
    /DNS does not answer at the moment; Commitlet retries/,
  ],
  ['knows the name but no address', undefined, /not known to DNS/],
] as const) {
  t.test(`a DNS that ${title} is a NetworkError`, async (t) => {
    const resolve = guardAddresses(ANYWHERE, () =>
      answer === undefined ? Promise.resolve([]) : Promise.reject(answer),
    )
    await t.rejects(resolve('git.example.com', 443, NEVER), { reason: 'NetworkError', message })
  })
}

t.test('DNS is given up when the signal fires', async (t) => {
  const resolve = guardAddresses(ANYWHERE, () => Promise.withResolvers<readonly string[]>().promise)
  const deadline = new AbortController()
  setImmediate(() => deadline.abort())
  await t.rejects(resolve('git.example.com', 443, deadline.signal), {
    reason: 'Timeout',
    message: /^DNS did not answer for /,
  })
  const own = new Failure('Timeout', 'Stopped.')
  await t.rejects(resolve('git.example.com', 443, AbortSignal.abort(own)), own)
})

t.test('callers share a lookup while it is in flight, and no longer', async (t) => {
  const answers: PromiseWithResolvers<readonly string[]>[] = []
  const resolve = guardAddresses(ANYWHERE, () => {
    const answer = Promise.withResolvers<readonly string[]>()
    answers.push(answer)
    return answer.promise
  })
  const both = Promise.all([resolve('git.example.com', 443, NEVER), resolve('git.example.com', 22, NEVER)])
  t.equal(answers.length, 1)
  answers[0]?.resolve(['192.0.2.7'])
  t.same(await both, [['192.0.2.7'], ['192.0.2.7']])
  const next = resolve('git.example.com', 443, NEVER)
  answers[1]?.resolve(['169.254.169.254'])
  await t.rejects(next, { reason: 'AddressForbidden', message: FORBIDDEN })
})

t.test('the addresses behind the API server are forbidden as they are known at the time', async (t) => {
  let known = [{ host: '192.0.2.1', port: 6443 }]
  const surroundings = { ...ANYWHERE, readEndpoints: () => Promise.resolve(known) }
  const resolve = guardAddresses(surroundings, answering('192.0.2.1'))
  const expected = { reason: 'AddressForbidden', message: FORBIDDEN }
  await t.rejects(resolve('git.example.com', 6443, NEVER), expected)
  await t.rejects(resolve('::ffff:c000:201', 6443, NEVER), expected)
  t.same(await resolve('git.example.com', 443, NEVER), ['192.0.2.1'])
  known = [{ host: '2001:db8::6', port: 6443 }]
  t.same(await resolve('git.example.com', 6443, NEVER), ['192.0.2.1'])
  await t.rejects(resolve('2001:db8:0::6', 6443, NEVER), expected)
})

t.test('an attempt does not wait for these addresses beyond its time', async (t) => {
  const { promise: never } = Promise.withResolvers<readonly []>()
  const resolve = guardAddresses({ ...ANYWHERE, readEndpoints: () => never }, answering('192.0.2.1'))
  await t.rejects(resolve('git.example.com', 443, AbortSignal.abort()), { message: /^DNS did not answer/ })
})

t.test('a name with more than 64 addresses is refused', async (t) => {
  const addresses = Array.from({ length: 65 }, (_, i) => `192.0.2.${i}`)
  const some = guardAddresses({ inCluster: false, apiServer: [] }, async () => addresses.slice(1))
  t.equal((await some('git.example.com', 443, NEVER)).length, 64)
  const all = guardAddresses({ inCluster: false, apiServer: [] }, async () => addresses)
  await t.rejects(all('git.example.com', 443, NEVER), {
    reason: 'NetworkError',
    message:
      'git.example.com has 65 addresses in DNS, and at most 64 are accepted; name another host, or ask its administrator.',
  })
})

t.test(
  'names of one namespace that DNS does not answer leave threads to others, whoever waits for them',
  async (t) => {
    const asked: string[] = []
    const answers = new Map<string, () => void>()
    const resolve = guardAddresses(ANYWHERE, (host) => {
      asked.push(host)
      return new Promise((answer) => {
        answers.set(host, () => answer(['192.0.2.7']))
        if (host.startsWith('good')) answer(['192.0.2.8'])
      })
    })
    const given = new AbortController()
    const late = Array.from({ length: 10 }, (_, i) => resolve(`slow-${i}`, 443, given.signal, 'tenant'))
    await resolve('good', 443, NEVER, 'other')
    given.abort()
    t.equal((await Promise.allSettled(late)).filter(({ status }) => status === 'rejected').length, 10)
    const next = resolve('good-of-tenant', 443, NEVER, 'tenant')
    t.same(await resolve('good', 443, NEVER, 'other'), ['192.0.2.8'])
    t.same(await resolve('good', 443, NEVER), ['192.0.2.8'], 'what is of no namespace waits for none')
    t.equal(asked.filter((host) => host.startsWith('slow')).length, 6)
    t.notOk(asked.includes('good-of-tenant'), 'a look-up that nobody waits for still holds its thread')
    answers.get('slow-0')?.()
    t.same(await next, ['192.0.2.8'])
  },
)

t.test('a name that another namespace waits for is answered to both at once', async (t) => {
  let asked = 0
  const answer = Promise.withResolvers<readonly string[]>()
  const resolve = guardAddresses(ANYWHERE, () => {
    asked += 1
    return answer.promise
  })
  const both = ['one', 'two'].map((namespace) => resolve('git.example.com', 443, NEVER, namespace))
  answer.resolve(['192.0.2.7'])
  t.same(await Promise.all(both), [['192.0.2.7'], ['192.0.2.7']])
  t.equal(asked, 1)
})
