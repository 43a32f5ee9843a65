import { mock } from 'node:test'
import t, { type Test } from 'tap'
import type { Login } from '../../../functions/domain/credentials/login.ts'
import { Failure } from '../../../functions/domain/failure.ts'
import type { Batch } from '../../../functions/git/group-commit/batch.ts'
import { makeGroupCommit } from '../../../functions/git/group-commit/group-commit.ts'
import { watchPushTimes } from '../../../functions/git/group-commit/push-times.ts'
import type { Pushed } from '../../../functions/git/remote.ts'
import { land } from '../../../functions/git/writer/land.ts'
import type { Settled } from '../../../functions/git/writer/pending-change.ts'
import { changeOf, loginOf } from '../stage.ts'
import { memoryRepository } from '../writer/memory-remote.ts'

const URL = 'https://git.example.com/acme/shop.git'
const LOGIN = { ...loginOf('a'), ofOperator: true as const }
const NEVER = new AbortController().signal
const CLAIM_MS = 25_000

/** Lets follow what needs no time. */
async function settle(): Promise<void> {
  for (let i = 0; i < 50; i += 1) await new Promise(setImmediate)
}

/** Pauses before rounds are real. */
async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (const began = Date.now(); Date.now() - began < 10_000;) {
    await settle()
    if (await isSo()) return
  }
}

/** A repository that looks at pushes with the file `slow` until `end` is called with what becomes of the oldest of them. */
function stage(test: Pick<Test, 'teardown'>, login: Login = LOGIN) {
  mock.timers.enable({ apis: ['setTimeout'] })
  test.teardown(() => mock.timers.reset())
  const repository = memoryRepository()
  const held: ((outcome: 'look' | Pushed) => void)[] = []
  const pushes: (readonly string[])[] = []
  /** What the next writing of commits waits for, and the next reading. */
  let before: Promise<undefined> | undefined
  let beforeReading: Promise<undefined> | undefined
  async function* landBatch({ changes, ...batch }: Batch): AsyncGenerator<Settled> {
    const remote = repository.open()
    let paths: readonly string[] = []
    yield* land(
      {
        ...remote,
        async readTip(wanted) {
          const wait = beforeReading
          beforeReading = undefined
          await wait
          return remote.readTip(wanted)
        },
        async writeCommits(tip, commits) {
          const wait = before
          before = undefined
          await wait
          paths = commits.flatMap(({ files }) => files.map(({ path }) => path))
          return remote.writeCommits(tip, commits)
        },
        async push(tip, head, remaining) {
          pushes.push(paths)
          if (!paths.includes('slow')) return remote.push(tip, head, remaining)
          const { promise, resolve } = Promise.withResolvers<'look' | Pushed>()
          held.push(resolve)
          batch.signal.addEventListener('abort', () => resolve({ kind: 'race' }), { once: true })
          const outcome = await promise
          return outcome === 'look' ? remote.push(tip, head, remaining) : outcome
        },
      },
      { ...batch, batch: changes },
    )
  }
  const groupCommit = makeGroupCommit({ land: landBatch })
  const outcomes: Record<string, string> = {}
  const confirmed: Record<string, (boolean | undefined)[]> = {}
  function push(namespace: string, path = namespace, signal = NEVER): void {
    const confirm = (afresh?: boolean): Promise<void> => {
      ;(confirmed[path] ??= []).push(afresh)
      return Promise.resolve()
    }
    const claim = { confirm, remaining: () => CLAIM_MS }
    groupCommit.push(changeOf(URL, path, { namespace }), login, signal, { claim }).then(
      ({ outcome }) => void (outcomes[path] = outcome),
      (error: unknown) => void (outcomes[path] = error instanceof Failure ? error.reason : 'a bug'),
    )
  }
  function hold(): () => void {
    const { promise, resolve } = Promise.withResolvers<undefined>()
    before = promise
    return () => resolve(undefined)
  }
  /** The next reading fails once the result is called. */
  function failReading(): (failure: Failure) => void {
    const { promise, reject } = Promise.withResolvers<undefined>()
    beforeReading = promise
    return reject
  }
  async function pass(ms: number): Promise<void> {
    await settle()
    mock.timers.tick(ms)
    await settle()
  }
  return {
    groupCommit,
    hold,
    failReading,
    repository,
    push,
    pass,
    pushes,
    outcomes,
    confirmed,
    end: (as: 'look' | Pushed = 'look') => held.shift()?.(as),
  }
}

t.test('nobody waits for a push that somebody has made slow: meanwhile each pushes by itself', async (t) => {
  const { push, pass, pushes, outcomes, confirmed, repository, end } = stage(t)
  push('evil', 'slow')
  push('shop')
  push('market')
  await pass(1_999)
  push('ops')
  await pass(0)
  t.same([pushes, outcomes], [[['slow', 'shop', 'market']], {}], 'it may be on its way')
  await pass(1)
  await pass(500)
  t.same(outcomes, { shop: 'pushed', market: 'pushed', ops: 'pushed' })
  t.same(confirmed['shop'], [false, true], 'a later attempt at their resources may have pushed meanwhile')
  push('new')
  await pass(0)
  t.equal(outcomes['new'], 'pushed', 'and who comes later')
  t.same(pushes.slice(1).toSorted(), [['market'], ['new'], ['ops'], ['shop'], ['slow']])
  await until(async () => {
    end()
    await pass(3_000)
    return outcomes['slow'] !== undefined
  })
  t.equal(outcomes['slow'], 'pushed')
  t.equal(repository.log().length, 6, 'each commit once')
})

t.test('what such a push makes after all counts, and is made once', async (t) => {
  const { push, pass, pushes, outcomes, repository, end } = stage(t)
  push('evil', 'slow')
  push('shop', 'slow 2')
  await settle()
  // Their own pushes wait for the turn of another login, as it were: the branch is slow for all.
  t.same(pushes, [['slow', 'slow 2']])
  const before = repository.onRead
  repository.onRead = () => 'moved'
  await pass(2_000)
  end()
  await settle()
  t.same(outcomes, { slow: 'pushed', 'slow 2': 'pushed' })
  repository.onRead = before
  await pass(5_000)
  t.same([pushes.length, repository.log().length], [1, 3])
})

t.test('a refusal of such a push is none of those who have left it', async (t) => {
  const { push, pass, outcomes, end } = stage(t)
  push('evil', 'slow')
  push('shop')
  await pass(2_000)
  await pass(500)
  t.same(outcomes, { shop: 'pushed' })
  end({ kind: 'refused', failure: new Failure('PushRejected', 'No.'), each: true })
  await settle()
  t.same(outcomes, { shop: 'pushed' }, 'the other push of the same change says what becomes of it')
  end({ kind: 'refused', failure: new Failure('PushRejected', 'No.'), each: true })
  await settle()
  t.same(outcomes, { shop: 'pushed', slow: 'PushRejected' })
})

t.test('a push that takes long only because it loses races is late as well', async (t) => {
  const { push, pass, pushes, outcomes, end } = stage(t)
  push('evil', 'slow')
  push('shop')
  await pass(1_500)
  const now = performance.now.bind(performance)
  t.intercept(performance, 'now', { value: () => now() + 3_500 })
  end({ kind: 'race' })
  await until(() => pushes.length === 2)
  t.same(pushes, Array(2).fill(['slow', 'shop']))
  await pass(500)
  await pass(500)
  t.same(outcomes, { shop: 'pushed' })
  await until(async () => {
    end()
    await pass(3_000)
    return outcomes['slow'] !== undefined
  })
})

t.test(
  'where pushes are short, rounds that one has lost make it late only together with others',
  async (t) => {
    const { push, pass, pushes, outcomes, end } = stage(t)
    for (const namespace of ['shop', 'market']) {
      push(namespace)
      await until(async () => {
        await pass(0)
        return outcomes[namespace] !== undefined
      })
    }
    push('evil', 'slow')
    push('ops')
    await pass(400)
    const now = performance.now.bind(performance)
    t.intercept(performance, 'now', { value: () => now() + 400 })
    const before = pushes.length
    end({ kind: 'race' })
    await until(() => pushes.length > before)
    await pass(400)
    t.equal(outcomes['ops'], undefined, 'another writer may be why')
    await until(async () => {
      await pass(100)
      return outcomes['ops'] !== undefined
    })
    t.equal(outcomes['ops'], 'pushed')
    await until(async () => {
      end()
      await pass(3_000)
      return outcomes['slow'] !== undefined
    })
  },
)

t.test('who is alone in a late push stays in it, and keeps nobody from the next one', async (t) => {
  const { push, pass, pushes, outcomes } = stage(t)
  push('evil', 'slow')
  await pass(2_000)
  push('shop')
  push('evil', 'next')
  await pass(500)
  t.same(pushes.toSorted(), [['next'], ['shop'], ['slow']])
  t.same(outcomes, { shop: 'pushed', next: 'pushed' })
})

t.test('a push that begins again without a change that was given up is late as others are', async (t) => {
  const { push, pass, pushes, outcomes, hold } = stage(t)
  const write = hold()
  const gone = new AbortController()
  push('evil', 'slow')
  push('evil', 'gone', gone.signal)
  await settle()
  gone.abort()
  write()
  await until(() => pushes.length > 0)
  push('shop')
  await pass(2_000)
  await pass(500)
  t.same(pushes, [['slow'], ['shop']])
  t.equal(outcomes['shop'], 'pushed')
})

t.test('a login of one namespace waits for its own push, however long it takes', async (t) => {
  const { push, pass, pushes } = stage(t, loginOf('a'))
  push('shop', 'slow')
  await pass(2_000)
  push('shop', 'next')
  await pass(20_000)
  t.same(pushes, [['slow']])
})

t.test('a late push that has not begun makes no commit of those who have left it', async (t) => {
  const { push, pass, pushes, outcomes, repository, hold } = stage(t)
  const go = hold()
  push('evil', 'a')
  push('shop', 'b')
  await pass(2_000)
  await pass(500)
  t.same(outcomes, { a: 'pushed', b: 'pushed' })
  go()
  await pass(5_000)
  t.same(pushes, [['a'], ['b']])
  t.equal(repository.log().length, 3)
})

t.test('once nobody waits for any of a late push, its session ends', async (t) => {
  const { push, pass, groupCommit, outcomes } = stage(t)
  const leaving = new AbortController()
  push('evil', 'slow', leaving.signal)
  push('shop', 'slow 2', leaving.signal)
  await pass(2_000)
  await pass(500)
  leaving.abort(new Failure('Timeout', 'Over.'))
  t.equal(
    await Promise.race([groupCommit.idle().then(() => 'idle'), pass(10_000).then(() => 'busy')]),
    'idle',
  )
  t.match(outcomes, { slow: 'Timeout' })
})

t.test('what has left such a push is pushed once more, and not again where that one ends', async (t) => {
  const { push, pass, failReading, outcomes, repository } = stage(t)
  const fail = failReading()
  for (const namespace of ['shop', 'market']) push(namespace)
  await pass(2_000)
  await pass(500)
  t.same(outcomes, { shop: 'pushed', market: 'pushed' })
  t.equal(repository.opened, 3)
  fail(new Failure('NotSupported', 'The repository is too large.'))
  await pass(500)
  t.equal(repository.opened, 3)
})

/** How long shared pushes may take at a branch where these have pushed by themselves, in this order. */
function limits(alone: readonly (readonly [namespace: string, milliseconds: number])[] = []) {
  const times = watchPushTimes()
  const end = (names: string, milliseconds: number): unknown =>
    times.ended('main', { namespaces: new Set(names.split(' ')), milliseconds })
  for (const [namespace, milliseconds] of alone) end(namespace, milliseconds)
  return { end, most: (names: string, branch = 'main') => times.mostMs(branch, names.split(' ')) }
}

t.test('where pushes of the others take as long, none is late', async (t) => {
  t.equal(limits().most('shop market'), 2_000)
  const { end, most } = limits([
    ['shop', 3_000],
    ['market', 3_000],
  ])
  t.equal(most('shop market'), 6_000)
  for (let i = 0; i < 10; i += 1) end(`evil-${i}`, 8_000)
  t.equal(most('shop market'), 6_000, 'ten that are slow do not pass for the host')
  t.equal(most('shop', 'next'), 2_000)
})

t.test('where pushes are short, one that takes several times as long is late', async (t) => {
  for (const [alone, shared] of [
    [20, 500],
    [100, 800],
    [249, 1_992],
    [500, 2_000],
    [1_200, 2_400],
  ] as const)
    t.equal(
      limits([
        ['shop', alone],
        ['market', alone],
      ]).most('shop market'),
      shared,
    )
})

t.test('those of whom it is known how long they take have nobody else wait for longer', async (t) => {
  const { end, most } = limits()
  for (const milliseconds of [1_700, 3_000, 5_400, 10_000, 19_000])
    for (const namespace of ['evil-1', 'evil-2', 'evil-3']) end(namespace, milliseconds)
  t.equal(most('evil-1 evil-2'), 38_000)
  t.equal(most('evil-1 shop'), 2_000, 'it leaves such a push, and is known then')
  end('shop', 100)
  end('market', 100)
  t.equal(most('evil-1 shop'), 800)
})

t.test('where shared pushes are never short, and nobody pushes alone, it is found out why', async (t) => {
  const { end, most } = limits()
  for (let times = 0; times < 5; times += 1) {
    t.equal(most('shop evil'), 2_000)
    end('shop evil', 1_650)
  }
  t.equal(most('shop evil'), 500)
  end('shop evil', 100)
  t.equal(most('shop evil'), 2_000, 'one after the other')
})
