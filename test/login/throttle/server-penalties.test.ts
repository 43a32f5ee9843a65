import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { Failure } from '../../../functions/domain/failure.ts'
import { watchPenalties } from '../../../functions/login/throttle/server-penalties.ts'
import { outcomeOf } from '../../git/stage.ts'

const STRICT = 'SSH-2.0-OpenSSH_9.8p1 Debian-1'
const SERVER = '192.0.2.1'
const NEVER = new AbortController().signal
const REFUSED = new Failure('AuthenticationFailed', 'The key is not accepted.')
const MISMATCH = new Failure('HostKeyMismatch', 'It shows another key.')
const HELD_BACK = { reason: 'RateLimited', message: /^Logging in at git.test was not tried yet/ }

/** A pod with a clock that a test sets, in milliseconds, and what a server that says this remembers of it, in seconds. */
function stage(software: string) {
  const clock = { now: 0 }
  const penalties = watchPenalties(() => clock.now)
  let [remembered, at, most] = [0, 0, 0]
  function remember(seconds: number): void {
    remembered = Math.max(0, remembered - (clock.now - at) / 1_000) + seconds
    at = clock.now
    most = Math.max(most, remembered)
  }
  async function logIn(namespace: string, failure?: Failure, login = namespace): Promise<unknown> {
    const connecting = { ...to(SERVER), namespace, login }
    return outcomeOf(
      penalties.run(connecting, async (address, reached) => {
        reached({ address })
        await setImmediate()
        reached({ address, software })
        if (failure === undefined) return 'logged in'
        remember(failure.reason === 'AuthenticationFailed' ? 5 : 1)
        throw failure
      }),
    )
  }
  return { clock, penalties, logIn, most: () => most }
}

function to(...addresses: readonly string[]) {
  return { namespace: 'shop', host: 'git.test', port: 22, addresses, login: 'key', signal: NEVER }
}

/** Ten namespaces with eight attempts each, once a second for five minutes. */
async function attack(
  { clock, logIn }: ReturnType<typeof stage>,
  failure: Failure,
  each: () => Promise<void>,
) {
  for (let second = 0; second < 300; second += 1) {
    const all = Array.from({ length: 80 }, (_, i) =>
      logIn(`hostile-${i % 10}`, failure, `key-${i}-${second}`),
    )
    await each()
    await Promise.all(all)
    clock.now += 1_000
  }
}

async function lockOut(t: Test, failure: Failure): Promise<void> {
  const own = stage(STRICT)
  await own.logIn('known')
  let held = 0
  await attack(own, failure, async () => {
    t.equal(await own.logIn('known'), 'logged in', 'what has worked there')
    if ((await own.logIn('known', undefined, `another-${own.clock.now}`)) !== 'logged in') held += 1
  })
  t.equal(held, 0, 'another login of a namespace of which one has worked')
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
  await attack(own, REFUSED, async () => {
    const outcome = await own.logIn('new', undefined, `key-${own.clock.now}`)
    // It stays one of whom nothing is known.
    if (outcome === 'logged in') since = own.clock.now
    else t.match(outcome, HELD_BACK)
    if (outcome !== 'logged in') held += 1
    longest = Math.max(longest, own.clock.now - since)
  })
  t.ok(longest <= 60_000, `${longest} ms`)
  t.ok(held < 60, `${held} of 300`)
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
        async (address, reached) => {
          tried += 1
          reached({ address, software })
          await new Promise<void>((resolve) => ends.push(resolve))
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

t.test('what has worked is held back once its namespace has made another one fail there', async (t) => {
  const { clock, logIn } = stage(STRICT)
  t.equal(await logIn('team'), 'logged in')
  t.equal(await logIn('team', REFUSED), REFUSED, 'as a key that was removed from the account')
  t.match(await logIn('team'), { ...HELD_BACK, message: /of the namespace team: fix/ })
  clock.now += 2_000
  t.equal(await logIn('team'), 'logged in')
})

t.test(
  'ten namespaces whose keys have worked, and do not any more, are known by the first ones of each',
  async (t) => {
    const { logIn } = stage(STRICT)
    const names = Array.from({ length: 10 }, (_, i) => `team-${i}`)
    for (const name of [...names, 'shop']) t.equal(await logIn(name), 'logged in')
    const all = names.flatMap((name) => Array.from({ length: 8 }, () => logIn(name, REFUSED)))
    t.equal(await logIn('shop'), 'logged in', 'another one is not held back')
    const outcomes = await Promise.all(all)
    const failed = outcomes.filter((outcome) => outcome === REFUSED).length
    t.ok(failed <= 3 * names.length, `${failed} of 80`)
  },
)

t.test('a wait for those who are trying ends with the signal', async (t) => {
  const { penalties } = stage(STRICT)
  const end = Promise.withResolvers<undefined>()
  const hold = (namespace: string) =>
    penalties.run({ ...to(SERVER), namespace, login: namespace }, () => end.promise)
  const two = [hold('one'), hold('two')]
  const over = new AbortController()
  const waiting = outcomeOf(penalties.run({ ...to(SERVER), signal: over.signal }, async () => 'tried'))
  await settle()
  over.abort()
  t.match(await waiting, { reason: 'Timeout' })
  end.resolve(undefined)
  await Promise.all(two)
})

t.test('addresses are tried until one can be reached, and what fails counts there alone', async (t) => {
  const { penalties, logIn } = stage(STRICT)
  const unreachable = new Failure('NetworkError', 'Nothing answers.')
  const tried: string[] = []
  const [first, second, third] = ['192.0.2.7', '192.0.2.8', SERVER] as const
  const refuse = () =>
    penalties.run(to(first, second, third), async (address, reached) => {
      tried.push(address)
      if (address === first) throw unreachable
      reached({ address, software: STRICT })
      throw REFUSED
    })
  t.equal(await outcomeOf(refuse()), REFUSED)
  t.match(await outcomeOf(refuse()), HELD_BACK, 'at the second one')
  t.same(tried, [first, second, first])
  t.equal(await outcomeOf(penalties.run(to(first), () => Promise.reject(unreachable))), unreachable)
  t.equal(await logIn('shop', undefined, 'key'), 'logged in', 'at the third')
})

async function settle(): Promise<void> {
  for (let times = 0; times < 10; times += 1) await setImmediate()
}
