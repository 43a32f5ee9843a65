import { once } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { Failure } from '../../../functions/domain/failure.ts'
import type { FailureReason } from '../../../functions/domain/reasons.ts'
import { makeLoginThrottle } from '../../../functions/login/throttle/login-throttle.ts'

const signal = new AbortController().signal

/** A host that knows the login `good` alone, and a clock that a test sets. */
function stage() {
  let ms = 0
  const throttle = makeLoginThrottle(5, () => ms)
  const tried: string[] = []
  const logIn = (
    login: string,
    {
      namespace = 'team',
      host = 'git.example.com',
      servers,
      shared,
      at = 'acme/shop',
      reads = false,
    }: {
      namespace?: string
      host?: string
      servers?: readonly string[]
      shared?: string
      at?: string
      reads?: boolean
    } = {},
  ): Promise<unknown> =>
    throttle
      .run(
        { namespace, host, servers, login, at, shared, signal },
        async () => {
          tried.push(login)
          await setImmediate()
          if (!reads && (!login.startsWith('good') || at === 'foreign'))
            throw new Failure('AuthenticationFailed', 'No.')
          return 'in'
        },
        () => !reads,
      )
      .catch((error: unknown) => error)
  return { throttle, tried, logIn, wait: (seconds: number) => (ms += seconds * 1000) }
}

t.test('after five failures a namespace may try one login in half a minute', async (t) => {
  const { tried, logIn, wait } = stage()
  for (let i = 0; i < 5; i += 1) t.match(await logIn(`bad-${i}`), { message: 'No.' })
  t.match(await logIn('bad-5'), {
    reason: 'AuthenticationFailed',
    retry: 'transient',
    fallback: true,
    retryAfterSeconds: 30,
    message: /^Logging in at git\.example\.com was not tried, .* of the namespace team have failed/,
  })
  t.equal(tried.length, 5)
  wait(30)
  t.match(await logIn('bad-6'), { message: 'No.' })
  t.match(await logIn('bad-7'), { retryAfterSeconds: 30 })
  wait(3600)
  for (let i = 0; i < 10; i += 1) await logIn(`worse-${i}`)
  t.equal(tried.length, 6 + 5, 'what was not used is not added up')
})

t.test('other namespaces and other hosts are not held back', async (t) => {
  const { logIn } = stage()
  for (let i = 0; i < 9; i += 1) await logIn(`bad-${i}`)
  t.equal(await logIn('good', { namespace: 'other' }), 'in')
  t.equal(await logIn('good-there', { host: 'other.example.com' }), 'in')
})

t.test('a server has one bound, however many names its host has', async (t) => {
  const { tried, logIn } = stage()
  const at = (i: number, servers: readonly string[]) => ({ host: `n${i}.example.com`, servers })
  for (let i = 0; i < 9; i += 1) await logIn(`bad-${i}`, at(i, [`own-${i}`, 'SHA256:server']))
  t.equal(tried.length, 5)
  t.match(await logIn('bad', at(10, ['SHA256:server'])), {
    message: /^Logging in at n10\.example\.com was not tried/,
  })
  t.equal(await logIn('good', at(11, ['SHA256:another'])), 'in')
  t.equal(await logIn('good', { namespace: 'other', ...at(12, ['SHA256:server']) }), 'in')
  const many = (i: number) => Array.from({ length: 65 }, (_, key) => `SHA256:${i}-${key}`)
  for (let i = 20; i < 29; i += 1) await logIn(`bad-${i}`, at(i, many(i)))
  t.equal(tried.length, 5 + 2 + 5, 'more names than a server has')
})

t.test(
  'those who wait for others that do not end take little memory, and are tried in their order',
  async (t) => {
    const throttle = makeLoginThrottle(8, () => 0)
    const servers = Array.from({ length: 64 }, (_, key) => `SHA256:${key}`)
    const ending = new AbortController()
    const run = (name: string, work: () => Promise<unknown>): Promise<unknown> => {
      const own = { login: 'one', at: name, shared: name, signal: ending.signal }
      return throttle
        .run({ namespace: 'evil', host: 'git.example.com', servers, ...own }, work)
        .catch(() => undefined)
    }
    const hanging = Array.from({ length: 7 }, (_, i) => run(`hang-${i}`, () => once(ending.signal, 'abort')))
    const before = process.resourceUsage().maxRSS
    const tried: number[] = []
    const quick = Array.from({ length: 200 }, (_, i) =>
      run(`quick-${i}`, async () => {
        tried.push(i)
        await setImmediate()
        throw new Failure('NetworkError', 'No.')
      }),
    )
    await Promise.all(quick)
    const grown = (process.resourceUsage().maxRSS - before) / 1024
    t.ok(grown < 250, `${grown.toFixed(0)} MiB`)
    t.same(
      tried,
      tried.toSorted((a, b) => a - b),
    )
    t.equal(tried.length, 200)
    ending.abort()
    await Promise.all(hanging)
  },
)

t.test('a server listed among more names than one has is still bounded', async (t) => {
  const { tried, logIn } = stage()
  const many = Array.from({ length: 65 }, (_, key) => `SHA256:invented-${key}`)
  for (let i = 0; i < 9; i += 1)
    await logIn(`bad-${i}`, { host: `n${i}.example.com`, servers: ['SHA256:server'] })
  t.equal(tried.length, 5)
  t.match(await logIn('bad', { host: 'n9.example.com', servers: ['SHA256:server', ...many] }), {
    retry: 'transient',
  })
  t.equal(tried.length, 5)
})

t.test(
  'what never logs in makes a namespace forget no failure, and neither do failures elsewhere',
  async (t) => {
    const { throttle, tried, logIn } = stage()
    for (let i = 0; i < 5; i += 1) await logIn(`bad-${i}`)
    const names = (i: number) => Array.from({ length: 16 }, (_, key) => `SHA256:${i}-${key}`)
    for (let i = 0; i < 1_000; i += 1) {
      const own = { login: `gone-${i}`, at: 'acme/shop', shared: undefined, signal }
      const gone = (): Promise<never> => Promise.reject(new Failure('NetworkError', 'No.'))
      const logsIn = { namespace: 'team', host: `no${i}.example.com`, servers: names(i), ...own }
      await throttle.run(logsIn, gone).catch(() => undefined)
    }
    t.match(await logIn('bad-6'), { retryAfterSeconds: 30 })
    t.equal(tried.length, 5)
    for (let i = 0; i < 1_000; i += 1)
      await logIn(`bad-${i}`, { host: `own${i}.example.com`, servers: names(i) })
    t.match(await logIn('bad-7'), { retryAfterSeconds: 30 })
    t.ok(tried.length < 5 + 100, `${tried.length} were tried: beyond its places, all count together`)
    t.equal(await logIn('good', { namespace: 'other' }), 'in')
  },
)

t.test('failures are forgotten once as many may be tried again', async (t) => {
  const { logIn, wait } = stage()
  const names = (i: number) => Array.from({ length: 16 }, (_, key) => `SHA256:${i}-${key}`)
  for (let i = 0; i < 100; i += 1) await logIn(`bad-${i}`, { host: `own${i}.example.com`, servers: names(i) })
  wait(150)
  for (let i = 0; i < 5; i += 1) t.match(await logIn(`worse-${i}`), { message: 'No.' })
  t.match(await logIn('good', { host: 'another.example.com' }), 'in')
})

t.test('at once, no more are tried at a server of many names than may fail', async (t) => {
  const { tried, logIn } = stage()
  await Promise.all(
    Array.from({ length: 50 }, (_, i) =>
      logIn(`bad-${i}`, { host: `n${i}.example.com`, servers: ['SHA256:server'] }),
    ),
  )
  t.equal(tried.length, 5)
})

t.test('nor is a login that has worked, until it fails', async (t) => {
  const { tried, logIn } = stage()
  t.equal(await logIn('good'), 'in')
  for (let i = 0; i < 9; i += 1) await logIn(`bad-${i}`)
  const before = tried.length
  t.equal(await logIn('good'), 'in')
  t.equal(tried.length, before + 1)
})

t.test('of logins that have worked, and do not any more, no more fail than of others', async (t) => {
  const { throttle, wait } = stage()
  let isOver = false
  let failed = 0
  const logIn = (login: string, at: string) =>
    throttle
      .run({ namespace: 'team', host: 'git.example.com', login, at, shared: undefined, signal }, async () => {
        if (!isOver) return 'in'
        failed += 1
        throw new Failure('AuthenticationFailed', 'No.')
      })
      .catch((error: unknown) => error)
  const all = Array.from({ length: 50 }, (_, i) => [`login ${i % 10}`, `repository ${i}`] as const)
  for (const one of all) t.equal(await logIn(...one), 'in')
  isOver = true
  for (const one of all) await logIn(...one)
  t.equal(failed, 5)
  t.match(await logIn('login 9', 'repository 49'), { message: /was not tried/ })
  isOver = false
  wait(30)
  t.equal(await logIn('login 9', 'repository 49'), 'in')
})

t.test('however many come at once, no more are tried than may fail', async (t) => {
  const { tried, logIn } = stage()
  const results = await Promise.all(Array.from({ length: 50 }, (_, i) => logIn(`bad-${i}`)))
  t.equal(tried.length, 5)
  t.equal(results.filter((one) => one instanceof Failure && one.retry === 'transient').length, 45)
})

t.test('good ones that come at once all log in', async (t) => {
  const { tried, logIn } = stage()
  const results = await Promise.all(Array.from({ length: 50 }, (_, i) => logIn(`good-${i}`)))
  t.same(new Set(results), new Set(['in']))
  t.equal(tried.length, 50)
})

t.test('one that works at one repository is not held back at others', async (t) => {
  const { tried, logIn } = stage()
  const many = Array.from({ length: 50 }, (_, i) => logIn('good', { shared: `${i}` }))
  await setImmediate()
  t.equal(tried.length, 5, 'until it has worked')
  t.same(new Set(await Promise.all(many)), new Set(['in']))
  t.same(
    await Promise.all(Array.from({ length: 9 }, (_, i) => logIn('bad', { shared: `${i}` }))).then(
      (all) => all.length,
    ),
    9,
  )
  t.equal(tried.length, 50 + 5)
})

t.test('one that works at one repository is tried no more often than others where it does not', async (t) => {
  const { tried, logIn } = stage()
  const foreign = { at: 'foreign' }
  for (let i = 0; i < 50; i += 1) {
    t.equal(await logIn('good'), 'in')
    await logIn('good', foreign)
  }
  t.equal(tried.length, 50 + 5)
})

t.test('nor one that fails at a repository which anybody may read', async (t) => {
  const { tried, logIn } = stage()
  for (let i = 0; i < 50; i += 1) {
    await logIn('bad', { reads: true })
    await logIn('bad')
  }
  t.equal(tried.length, 5 + 5, 'five have failed')
  t.match(await logIn('bad', { reads: true }), { message: /was not tried/ })
})

t.test('what anybody may read is no sign that a login works', async (t) => {
  const { tried, logIn } = stage()
  for (let i = 0; i < 50; i += 1) t.equal(await logIn(`bad-${i}`, { reads: true }), 'in')
  for (let i = 0; i < 50; i += 1) await logIn(`bad-${i}`)
  t.equal(tried.length, 50 + 5)
})

t.test('one credential that does not work is not tried more often than several', async (t) => {
  const { tried, logIn } = stage()
  const results = await Promise.all(Array.from({ length: 50 }, () => logIn('bad')))
  t.equal(tried.length, 5)
  t.match(results.at(-1), { retry: 'transient', message: /was not tried/ })
})

t.test('who waits for a push that cannot log in fails with it, and never logs in', async (t) => {
  const { throttle } = stage()
  const refused = new Failure('AuthenticationFailed', 'No.')
  const first = Promise.withResolvers<never>()
  const push = (work: (signal: AbortSignal) => Promise<unknown>): Promise<unknown> =>
    throttle
      .run({ namespace: 'team', host: 'h', login: 'bad', at: 'acme/shop', shared: 'main', signal }, work)
      .catch((error: unknown) => error)
  const next = (own: AbortSignal): Promise<unknown> =>
    new Promise((_, reject) => own.addEventListener('abort', () => reject(own.reason as Error)))
  const all = [push(() => first.promise), push(next), push(next)]
  first.reject(refused)
  t.strictSame(await Promise.all(all), [refused, refused, refused])
  t.equal(await push(() => Promise.resolve('in')), 'in', 'later ones try again')
})

t.test('what shares a push is one failure', async (t) => {
  const { tried, logIn } = stage()
  await Promise.all(Array.from({ length: 50 }, () => logIn('bad', { shared: 'main' })))
  t.equal(tried.length, 50, 'one push has them all')
  for (let i = 0; i < 9; i += 1) await logIn(`bad-${i}`)
  t.equal(tried.length, 54)
})

for (const reason of [
  'NetworkError',
  'RepositoryNotFound',
  'PermissionDenied',
] as const satisfies readonly FailureReason[])
  t.test(`${reason} does not count`, async (t) => {
    const { throttle } = stage()
    const failure = new Failure(reason, 'No.')
    for (let i = 0; i < 20; i += 1)
      await t.rejects(
        throttle.run({ namespace: 'team', host: 'h', login: `${i}`, at: '', shared: undefined, signal }, () =>
          Promise.reject(failure),
        ),
        failure,
      )
  })

t.test('who waits for others ends with its attempt', async (t) => {
  const { throttle } = stage()
  const hanging = Promise.withResolvers<string>()
  const run = (login: string, by = signal): Promise<string> =>
    throttle.run(
      { namespace: 'team', host: 'h', login, at: '', shared: undefined, signal: by },
      () => hanging.promise,
    )
  const five = Array.from({ length: 5 }, (_, i) => run(`${i}`))
  const late = new AbortController()
  const sixth = run('6', late.signal)
  late.abort(new Failure('Timeout', 'Late.'))
  await t.rejects(sixth, { message: 'Late.' })
  hanging.resolve('in')
  t.same(await Promise.all(five), ['in', 'in', 'in', 'in', 'in'])
})
