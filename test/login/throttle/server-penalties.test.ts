import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { asFailure, Failure } from '../../../functions/domain/failure.ts'
import { watchPenalties } from '../../../functions/login/throttle/server-penalties.ts'
import { outcomeOf } from '../../git/stage.ts'

const STRICT = 'SSH-2.0-OpenSSH_9.8p1 Debian-1'
const SERVER = '192.0.2.1'
const NEVER = new AbortController().signal
/** Attempts at once, of those that fail and of those that do not. */
const MOST_OF_NAMESPACE = 4
const REFUSED = new Failure('AuthenticationFailed', 'The key is not accepted.')
const MISMATCH = new Failure('HostKeyMismatch', 'It shows another key.')
const HELD_BACK = {
  reason: 'AuthenticationFailed',
  retry: 'transient',
  message: /^Logging in at git.test was not tried yet/,
}

/** A pod with a clock that a test sets, in milliseconds, and what a server that says this remembers of it, in seconds. */
function stage(software: string) {
  const clock = { now: 0 }
  const waits: { readonly until: number; readonly end: () => void }[] = []
  const wait = (ms: number): Promise<void> =>
    new Promise((resolve) => waits.push({ until: clock.now + ms, end: resolve }))
  const penalties = watchPenalties(8, { elapsed: () => clock.now, wait })
  async function pass(milliseconds: number): Promise<void> {
    clock.now += milliseconds
    for (const one of waits.splice(0)) {
      if (one.until <= clock.now) one.end()
      else waits.push(one)
    }
    await settle()
  }
  let [remembered, at, most] = [0, 0, 0]
  function remember(seconds: number): void {
    remembered = Math.max(0, remembered - (clock.now - at) / 1_000) + seconds
    at = clock.now
    most = Math.max(most, remembered)
  }
  async function logIn(namespace: string, failure?: Failure, login = namespace): Promise<unknown> {
    const connecting = { ...to(SERVER), namespace, login }
    return outcomeOf(
      penalties.run(connecting, async (_address, { reached, begins }) => {
        if (!begins()) return undefined
        reached()
        await setImmediate()
        reached(software)
        if (failure === undefined) return 'logged in'
        remember(failure.reason === 'AuthenticationFailed' ? 5 : 1)
        throw failure
      }),
    )
  }
  return { clock, penalties, logIn, pass, most: () => most }
}

function to(...addresses: readonly string[]) {
  return { namespace: 'shop', host: 'git.test', port: 22, addresses, login: 'key', signal: NEVER }
}

/** Ten namespaces with two attempts each, once a second for two minutes. `each`: what somebody else does every second. */
async function attack(
  { clock, logIn, pass }: ReturnType<typeof stage>,
  failure: Failure,
  each: () => void,
): Promise<void> {
  for (let second = 0; second < 120; second += 1) {
    for (let i = 0; i < 20; i += 1) void logIn(`hostile-${i % 10}`, failure, `key-${i}-${clock.now}`)
    each()
    await settle()
    await pass(1_000)
  }
}

async function lockOut(t: Test, failure: Failure): Promise<void> {
  const own = stage(STRICT)
  await own.logIn('known')
  let [worked, other] = [0, 0]
  await attack(own, failure, () => {
    void own.logIn('known').then((outcome) => (worked += outcome === 'logged in' ? 1 : 0))
    const login = `another-${own.clock.now}`
    void own.logIn('known', undefined, login).then((outcome) => (other += outcome === 'logged in' ? 1 : 0))
  })
  await own.pass(1_000)
  t.equal(worked, 120, 'what has worked there')
  t.equal(other, 120, 'another login of a namespace of which one has worked')
  t.ok(own.most() <= 15, `${own.most()} s`)
  t.ok(own.most() >= 5, `${own.most()} s`)
}

t.test('ten namespaces with keys that a server refuses do not have it lock out the pod', (t) =>
  lockOut(t, REFUSED),
)

t.test('ten namespaces with host keys that are not those of a server do not have it lock out the pod', (t) =>
  lockOut(t, MISMATCH),
)

t.test('a namespace that is new there waits for seconds, and is told so', async (t) => {
  const own = stage(STRICT)
  let [held, longest, since] = [0, 0, 0]
  await attack(own, REFUSED, () => {
    // It stays one of which nothing is known.
    void own.logIn(`new-${since}`, undefined, `key-${own.clock.now}`).then((outcome) => {
      if (outcome === 'logged in') since = own.clock.now
      else t.match(outcome, HELD_BACK)
      if (outcome !== 'logged in') held += 1
      longest = Math.max(longest, own.clock.now - since)
    })
  })
  t.ok(longest <= 60_000, `${longest} ms`)
  t.ok(held < 90, `${held} of 120`)
})

t.test('where the server says that it is another one, there are more at once', async (t) => {
  for (const [software, most] of [
    [STRICT, 2],
    ['SSH-2.0-babeld-17a926d7', 10],
  ] as const) {
    const { penalties, logIn } = stage(software)
    await logIn('first')
    let tried = 0
    const ends: (() => void)[] = []
    const all = Array.from({ length: 20 }, (_, i) =>
      penalties.run(
        { ...to(SERVER), namespace: `team-${i}`, login: `key-${i}` },
        async (_address, { reached, begins }) => {
          if (!begins()) return undefined
          tried += 1
          reached(software)
          await new Promise<void>((resolve) => ends.push(resolve))
          return 'logged in'
        },
      ),
    )
    await settle()
    t.equal(tried, most, software)
    while (ends.length > 0) {
      ends.shift()?.()
      await settle()
    }
    await Promise.all(all)
    t.equal(tried, all.length, 'and all of them in the end')
  }
})

t.test('what has worked is held back once two others of its namespace have that had, too', async (t) => {
  const { clock, logIn } = stage(STRICT)
  for (const login of ['one', 'two', 'three']) t.equal(await logIn('team', undefined, login), 'logged in')
  t.equal(await logIn('team', REFUSED, 'one'), REFUSED, 'as a key that was removed from the account')
  t.equal(await logIn('team', undefined, 'three'), 'logged in')
  t.equal(await logIn('team', REFUSED, 'two'), REFUSED)
  t.match(await logIn('team', undefined, 'three'), {
    ...HELD_BACK,
    message: /of the namespace team: fix/,
    retryAfterSeconds: 8,
  })
  clock.now += 8_000
  t.equal(await logIn('team', undefined, 'three'), 'logged in')
})

t.test(
  'ten namespaces whose logins work, and often end without, do not have it lock out the pod',
  async (t) => {
    const own = stage(STRICT)
    const names = Array.from({ length: 10 }, (_, i) => `torn-${i}`)
    for (const name of [...names, 'known']) await own.logIn(name)
    const waiting = new Map<string, number>()
    let [worked, times] = [0, 0]
    async function logIn(name: string, failure?: Failure): Promise<void> {
      const alike = `${name} ${failure?.reason}`
      const others = waiting.get(alike) ?? 0
      if (others === MOST_OF_NAMESPACE) return
      waiting.set(alike, others + 1)
      if ((await own.logIn(name, failure)) === 'logged in') times += 1
      waiting.set(alike, (waiting.get(alike) ?? 0) - 1)
    }
    for (let second = 0; second < 120; second += 1) {
      for (const name of names) {
        void logIn(name, MISMATCH)
        void logIn(name)
      }
      void own.logIn('known').then((outcome) => (worked += outcome === 'logged in' ? 1 : 0))
      await settle()
      await own.pass(1_000)
    }
    t.equal(worked, 120)
    t.ok(own.most() <= 15, `${own.most()} s`)
    t.ok(own.most() >= 5 && times > 120, `${own.most()} s, ${times} times`)
  },
)

t.test('a fallback is tried after a key that is wrong, and works however often that fails', async (t) => {
  const { logIn, pass } = stage(STRICT)
  for (let times = 0; times < 20; times += 1) {
    const first = logIn('team', REFUSED, 'wrong')
    await pass(1_000)
    if ((await first) !== REFUSED) t.match(await first, { ...HELD_BACK, fallback: true })
    const fallback = logIn('team', undefined, 'fallback')
    await pass(1_000)
    t.equal(await fallback, 'logged in')
  }
})

t.test('where an operator lets more fail, more are tried', async (t) => {
  const penalties = watchPenalties(800, { elapsed: () => 0 })
  const all = Array.from({ length: 150 }, (_, i) =>
    outcomeOf(
      penalties.run({ ...to(SERVER), login: `key-${i}` }, async (_address, { reached, begins }) => {
        if (!begins()) return undefined
        reached(STRICT)
        throw REFUSED
      }),
    ),
  )
  t.ok((await Promise.all(all)).every((outcome) => outcome === REFUSED))
})

t.test(
  'ten namespaces whose keys have worked, and do not any more, are known by the first ones of each',
  async (t) => {
    const { logIn, pass } = stage(STRICT)
    const names = Array.from({ length: 10 }, (_, i) => `team-${i}`)
    for (const name of [...names, 'shop']) t.equal(await logIn(name), 'logged in')
    const all = names.flatMap((name) => Array.from({ length: 8 }, () => logIn(name, REFUSED)))
    t.equal(await logIn('shop'), 'logged in', 'another one is not held back')
    for (let second = 0; second < 5; second += 1) await pass(1_000)
    const outcomes = await Promise.all(all)
    const failed = outcomes.filter((outcome) => outcome === REFUSED).length
    t.ok(failed <= 3 * names.length, `${failed} of 80`)
  },
)

t.test('a wait for those who are trying ends with the signal', async (t) => {
  const { penalties } = stage(STRICT)
  const end = Promise.withResolvers<string>()
  const hold = (namespace: string) =>
    penalties.run({ ...to(SERVER), namespace, login: namespace }, async (_address, { begins }) =>
      begins() ? end.promise : undefined,
    )
  const two = [hold('one'), hold('two')]
  const over = new AbortController()
  await settle()
  const waiting = outcomeOf(penalties.run({ ...to(SERVER), signal: over.signal }, async () => 'tried'))
  await settle()
  over.abort()
  t.match(await waiting, { reason: 'Timeout' })
  end.resolve('logged in')
  await Promise.all(two)
})

/** Log-ins of namespaces of which nothing is known that never end by themselves, and how those ended that have ended. */
function hang({ penalties }: ReturnType<typeof stage>, namespaces: readonly string[]) {
  const ended: unknown[] = []
  for (const namespace of namespaces) {
    const connecting = { ...to(SERVER), namespace, login: namespace }
    const run = penalties.run(connecting, async (_address, { signal, reached, begins }) => {
      if (!begins()) return undefined
      reached(STRICT)
      return new Promise<string>((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(asFailure(signal.reason))),
      )
    })
    void outcomeOf(run).then((outcome) => ended.push([namespace, outcome]))
  }
  return ended
}

t.test('what has worked waits for nobody of another namespace who is trying', async (t) => {
  const own = stage(STRICT)
  t.equal(await own.logIn('shop'), 'logged in')
  hang(own, ['one', 'two', 'three', 'four'])
  await settle()
  t.equal(await own.logIn('shop'), 'logged in')
})

t.test('who waits for a thread keeps nobody else from trying', async (t) => {
  const own = stage(STRICT)
  for (let i = 0; i < 5; i += 1)
    void own.penalties.run(
      { ...to(SERVER), namespace: `team-${i}`, login: `key-${i}` },
      () => new Promise(() => undefined),
    )
  await settle()
  t.equal(await own.logIn('shop'), 'logged in')
})

t.test('whoever takes long to log in gives way to others who wait, and comes after them then', async (t) => {
  const own = stage(STRICT)
  t.equal(await own.logIn('another'), 'logged in')
  const ended = hang(own, ['one', 'two', 'one', 'two'])
  await settle()
  const waiting = own.logIn('shop')
  await own.pass(4_999)
  t.same(ended, [], 'usual log-ins take less')
  await own.pass(1)
  t.match(ended, [
    ['one', { reason: 'Timeout', message: /^Logging in at git.test took more than 5 s while others waited/ }],
    ['two', { reason: 'Timeout' }],
  ])
  let loggedIn = false
  void waiting.then((outcome) => (loggedIn = outcome === 'logged in'))
  for (let second = 0; second < 6; second += 1) await own.pass(1_000)
  t.ok(loggedIn, 'after one more of them at most')
})

t.test('what has worked may take long, whoever waits', async (t) => {
  const own = stage(STRICT)
  t.equal(await own.logIn('shop'), 'logged in')
  const ended = hang(own, ['shop', 'one', 'two', 'three'])
  await settle()
  for (let second = 0; second < 20; second += 1) await own.pass(1_000)
  const names = ended.map((one) => (Array.isArray(one) ? one[0] : one))
  t.ok(names.includes('one') && names.includes('two'), names.join(' '))
  t.notOk(names.includes('shop'))
})

t.test('a log-in that takes long goes on while nobody of another namespace waits', async (t) => {
  const own = stage(STRICT)
  const ended = hang(own, ['one', 'one', 'one'])
  await settle()
  for (let second = 0; second < 20; second += 1) await own.pass(1_000)
  t.same(ended, [])
})

t.test('a log-in that takes long goes on where those who have waited have given up', async (t) => {
  const own = stage(STRICT)
  const ended = hang(own, ['one', 'two'])
  await settle()
  const over = new AbortController()
  const waiting = outcomeOf(own.penalties.run({ ...to(SERVER), signal: over.signal }, async () => 'tried'))
  await settle()
  over.abort()
  t.match(await waiting, { reason: 'Timeout' })
  for (let second = 0; second < 20; second += 1) await own.pass(1_000)
  t.same(ended, [])
})

t.test('whoever uses very many other servers has nothing forgotten that one of them remembers', async (t) => {
  const own = stage(STRICT)
  t.equal(await own.logIn('shop'), 'logged in')
  const outcomes: unknown[] = []
  for (let round = 0; round < 4; round += 1) {
    void own.logIn('hostile', REFUSED, `key-${round}`).then((outcome) => outcomes.push(outcome))
    await settle()
    for (let i = 0; i < 1_100; i += 1)
      await outcomeOf(own.penalties.run(to(`198.51.100.1 ${i}`), () => Promise.reject(REFUSED)))
  }
  t.same(outcomes, [REFUSED], 'the next ones wait')
  t.equal(await own.logIn('shop'), 'logged in')
})

t.test('addresses are tried until one can be reached, and what fails counts there alone', async (t) => {
  const { penalties, logIn, pass } = stage(STRICT)
  const unreachable = new Failure('NetworkError', 'Nothing answers.')
  const tried: string[] = []
  const [first, second, third] = ['192.0.2.7', '192.0.2.8', SERVER] as const
  const refuse = () =>
    penalties.run(to(first, second, third), async (address, { reached, begins }) => {
      if (!begins()) return undefined
      tried.push(address)
      if (address === first) throw unreachable
      reached(STRICT)
      throw REFUSED
    })
  t.equal(await outcomeOf(refuse()), REFUSED)
  const another = outcomeOf(refuse())
  await pass(1_000)
  t.equal(await another, REFUSED)
  t.match(await outcomeOf(refuse()), HELD_BACK, 'at the second one')
  t.same(tried, [first, second, first, second, first])
  t.equal(await outcomeOf(penalties.run(to(first), () => Promise.reject(unreachable))), unreachable)
  t.equal(await logIn('shop', undefined, 'key'), 'logged in', 'at the third')
})

async function settle(): Promise<void> {
  for (let times = 0; times < 10; times += 1) await setImmediate()
}

t.test('what is known of many servers takes no more memory than it needs', async (t) => {
  const { penalties } = stage(STRICT)
  const before = process.memoryUsage().arrayBuffers
  for (let port = 1; port <= 500; port += 1)
    await outcomeOf(
      penalties.run({ ...to(SERVER), port }, (_address, { reached, begins }) => {
        begins()
        reached()
        return Promise.reject(MISMATCH)
      }),
    )
  const taken = (process.memoryUsage().arrayBuffers - before) / 1024
  t.ok(taken < 1_024, `${taken} KiB`)
})
