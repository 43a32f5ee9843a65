import { mock } from 'node:test'
import t from 'tap'
import { takeBatchTurns } from '../../../functions/git/group-commit/batch-turns.ts'
import type { BranchWriter, Slow } from '../../../functions/git/group-commit/branch-lines.ts'
import { openBranchTurns } from '../../../functions/git/group-commit/branch-turns.ts'
import type { BranchTarget } from '../../../functions/git/group-commit/queue/branch-place.ts'
import { addressOf } from '../stage.ts'

const NEVER = new AbortController().signal
const MAIN = { repository: addressOf('https://git.example.com/acme/shop.git'), branch: 'main' }

/** Turns of logins that have a namespace each. */
function stage() {
  const turns = openBranchTurns()
  const writer = (login: string): BranchWriter => ({ login, namespaces: [`of ${login}`] })
  return {
    take: async (target: BranchTarget, login: string) => (await turns.take(target, writer(login))).release,
    landed: (target: BranchTarget, login: string) => turns.landed(target, writer(login)),
  }
}

t.test('one has the turn of a branch at a time, in the order in which they came', async (t) => {
  const { take } = stage()
  const order: string[] = []
  const first = await take(MAIN, 'first')
  const others = ['second', 'third'].map(async (name) => {
    const pass = await take(MAIN, name)
    order.push(name)
    pass()
  })
  ;(await take({ ...MAIN, branch: 'other' }, 'first'))()
  t.same(order, [])
  first()
  await Promise.all(others)
  t.same(order, ['second', 'third'])
})

/** Lets follow what is due by now. */
async function settle(): Promise<void> {
  for (let i = 0; i < 5; i += 1) await new Promise(setImmediate)
}

/** How many of twenty logins, each of another namespace, have had a turn of which none is passed, second by second. */
async function turnsHad(isKnown: boolean): Promise<readonly number[]> {
  const { take, landed } = stage()
  const logins = Array.from({ length: 20 }, (_, i) => `${i}`)
  if (isKnown) for (const login of logins) landed(MAIN, login)
  let had = 0
  for (const login of logins) void take(MAIN, login).then(() => (had += 1))
  const counts: number[] = []
  for (let seconds = 0; seconds < 5; seconds += 1) {
    await settle()
    counts.push(had)
    mock.timers.tick(1_000)
  }
  return counts
}

t.test('a turn that is not passed keeps the next ones for two seconds each, four at most', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  t.same(await turnsHad(true), [1, 1, 2, 2, 20])
})

t.test(
  'a push that several namespaces share keeps its turn for ten seconds, and others wait for four',
  async (t) => {
    mock.timers.enable({ apis: ['setTimeout'] })
    t.teardown(() => mock.timers.reset())
    const turns = openBranchTurns()
    const shared = { login: 'all', namespaces: ['shop', 'market'], isShared: true }
    const other = { login: 'other', namespaces: ['other'] }
    for (const writer of [shared, other]) turns.landed(MAIN, writer)
    const turn = await turns.take(MAIN, shared)
    let had = false
    void turns.take(MAIN, other).then(() => (had = true))
    for (const [seconds, hasWaited] of [
      [3, false],
      [1, true],
    ] as const) {
      mock.timers.tick(seconds * 1_000)
      await settle()
      t.equal(had, hasWaited)
    }
    mock.timers.tick(5_000)
    t.notOk(turn.isOver())
    mock.timers.tick(1_000)
    t.ok(turn.isOver())
  },
)

t.test('who may make a push slow has a short turn, and who is known to none', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  for (const [slowMs, milliseconds] of [
    [0, 2_000],
    [1_999, 2_000],
    ['unknown', 500],
    [2_001, 0],
  ] as const) {
    const turn = await openBranchTurns().take(MAIN, { login: 'all', namespaces: ['evil'], slowMs })
    mock.timers.tick(Math.max(0, milliseconds - 1))
    t.equal(turn.isOver(), milliseconds === 0, `${slowMs}`)
    mock.timers.tick(1)
    t.ok(turn.isOver())
  }
})

t.test('those who are slow push one after the other, and keep nobody else waiting', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  let now = 0
  const turns = openBranchTurns(() => now)
  async function pass(milliseconds: number): Promise<void> {
    await settle()
    now += milliseconds
    mock.timers.tick(milliseconds)
    await settle()
  }
  const began: string[] = []
  const take = async (namespace: string, slowMs: Slow) => {
    const turn = await turns.take(MAIN, { login: 'all', namespaces: [namespace], slowMs })
    began.push(namespace)
    return turn
  }
  for (const namespace of ['slow', 'slower', 'slowest', 'new', 'quick'])
    turns.landed(MAIN, { login: 'all', namespaces: [namespace] })
  const slow = await take('slow', 2_500)
  const others = [take('slower', 10_000), take('slowest', 30_000)]
  await pass(1)
  t.ok(slow.isOver(), 'others may take its tip')
  for (const [namespace, slowMs] of [
    ['new', 'unknown'],
    ['quick', 0],
  ] as const) {
    const turn = await take(namespace, slowMs)
    turn.release()
  }
  await pass(2_500)
  t.same(began, ['slow', 'new', 'quick'])
  slow.release()
  await pass(3_999)
  t.same(began, ['slow', 'new', 'quick', 'slower'])
  await pass(1)
  t.same(began, ['slow', 'new', 'quick', 'slower', 'slowest'], 'not for more than four seconds')
  for (const { release } of await Promise.all(others)) release()
})

t.test(
  'a turn that a push takes again lasts as long as that of a shared one, where several are in it by then',
  async (t) => {
    mock.timers.enable({ apis: ['setTimeout'] })
    t.teardown(() => mock.timers.reset())
    const turns = openBranchTurns()
    for (const login of ['all', 'other']) turns.landed(MAIN, { login, namespaces: ['shop', 'market', login] })
    for (const [namespaces, milliseconds] of [
      [['shop'], 2_000],
      [['shop', 'market'], 10_000],
    ] as const) {
      const batch = takeBatchTurns(turns, MAIN, { login: 'all' })
      const release = await batch.acquire({ address: MAIN.repository, namespace: 'shop' }, NEVER)
      batch.begin({ release, namespace: 'shop', gaveWay: NEVER })
      mock.timers.tick(2_000)
      await batch.again(namespaces, NEVER)
      let had = false
      void turns.take(MAIN, { login: 'other', namespaces: ['other'] }).then(() => (had = true))
      mock.timers.tick(Math.min(1_999, milliseconds - 1))
      await settle()
      t.notOk(had)
      mock.timers.tick(1)
      await settle()
      t.equal(had, milliseconds === 2_000)
      batch.end()
      await settle()
      mock.timers.tick(20_000)
    }
  },
)

t.test('who has never pushed to the branch waits for two seconds at most', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  t.same(await turnsHad(false), [1, 1, 20, 20, 20])
  const { take, landed } = stage()
  for (const login of ['shop', 'market', 'kitchen']) landed(MAIN, login)
  for (const login of ['shop', 'market', 'kitchen']) void take(MAIN, login)
  let had = false
  void take(MAIN, 'stranger').then(() => (had = true))
  await settle()
  t.notOk(had)
  mock.timers.tick(2_000)
  await settle()
  t.ok(had, 'also for those who have')
})

t.test('a turn that is passed twice counts once', async (t) => {
  const { take } = stage()
  const first = await take(MAIN, 'first')
  const second = take(MAIN, 'second')
  first()
  first()
  const pass = await second
  const third = take(MAIN, 'third')
  t.equal(await Promise.race([third, settle()]), undefined, 'the third one still waits')
  pass()
  ;(await third)()
})

t.test('the logins of one namespace have turns with those of others, however many they are', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  for (const isKnown of [false, true]) {
    let now = 0
    const turns = openBranchTurns(() => now)
    const writers = Array.from({ length: 8 }, (_, i) => ({ login: `evil ${i}`, namespaces: ['evil'] }))
    const shop = { login: 'shop', namespaces: ['shop'] }
    if (isKnown) for (const writer of [...writers, shop]) turns.landed(MAIN, writer)
    for (const writer of writers) void turns.take(MAIN, writer)
    let had = false
    void turns.take(MAIN, shop).then(() => (had = true))
    await settle()
    t.notOk(had)
    now += 2_000
    mock.timers.tick(2_000)
    await settle()
    t.ok(had, 'after one turn of two seconds')
  }
})

t.test('who has pushed to the branch waits for nobody who never has, and these for all', async (t) => {
  const { take, landed } = stage()
  for (const login of ['shop', 'market']) landed(MAIN, login)
  const order: string[] = []
  const enter = async (name: string): Promise<() => void> => {
    const pass = await take(MAIN, name)
    order.push(name)
    return pass
  }
  const stranger = await enter('stranger')
  const shop = await enter('shop')
  const others = ['another stranger', 'market'].map(async (name) => (await enter(name))())
  await settle()
  t.same(order, ['stranger', 'shop'])
  shop()
  await settle()
  t.same(order, ['stranger', 'shop', 'market'])
  stranger()
  await Promise.all(others)
  t.same(order.slice(3), ['another stranger'])
  ;(await take({ ...MAIN, branch: 'other' }, 'stranger'))()
  const elsewhere = await take({ ...MAIN, branch: 'other' }, 'stranger')
  let had = false
  const next = take({ ...MAIN, branch: 'other' }, 'shop').then((pass) => {
    had = true
    pass()
  })
  await settle()
  t.notOk(had, 'what has landed on one branch says nothing of another')
  elsewhere()
  await next
})

t.test('however many branches a namespace pushes to, those of another are remembered', async (t) => {
  const { take, landed } = stage()
  landed(MAIN, 'shop')
  for (let i = 0; i < 10_000; i += 1) landed({ ...MAIN, branch: `${i}` }, 'evil')
  const stranger = await take(MAIN, 'stranger')
  const pass = await Promise.race([take(MAIN, 'shop'), settle()])
  t.ok(pass, 'without a turn of the stranger')
  pass?.()
  const latest = { ...MAIN, branch: '9999' }
  const other = await take(latest, 'stranger')
  t.ok(await Promise.race([take(latest, 'evil'), settle()]), 'its latest ones are remembered')
  const first = { ...MAIN, branch: '0' }
  const third = await take(first, 'stranger')
  t.notOk(await Promise.race([take(first, 'evil'), settle()]), 'and not its first ones')
  for (const over of [stranger, other, third]) over()
})

t.test('a login of several namespaces is known by each for which it has pushed', async (t) => {
  const { take, landed } = openBranchTurns()
  landed(MAIN, { login: 'default', namespaces: ['shop', 'market'] })
  const stranger = await take(MAIN, { login: 'stranger', namespaces: ['evil'] })
  for (const namespaces of [['shop'], ['market'], ['new', 'shop']])
    t.ok(await take(MAIN, { login: 'default', namespaces }))
  stranger.release()
})

t.test('who leaves the line keeps nobody waiting', async (t) => {
  const { take, landed } = openBranchTurns()
  const writers = ['shop', 'evil', 'stranger'].map((login) => ({ login, namespaces: [login] }))
  for (const writer of writers.slice(0, 2)) landed(MAIN, writer)
  const [shop, evil, stranger] = writers
  if (shop === undefined || evil === undefined || stranger === undefined) throw new Error('There are three')
  const first = await take(MAIN, shop)
  const leaving = new AbortController()
  const left = take(MAIN, evil, leaving.signal)
  const last = take(MAIN, stranger)
  leaving.abort(new Error('It leaves.'))
  await t.rejects(left, { message: 'It leaves.' })
  first.release()
  await last.then(({ release }) => release())
})

t.test(
  'who waits for others of its own namespace waits on, and who waits for others goes without a turn',
  async (t) => {
    mock.timers.enable({ apis: ['setTimeout'] })
    t.teardown(() => mock.timers.reset())
    let now = 0
    const turns = openBranchTurns(() => now)
    const went: string[] = []
    const take = async (namespace: string, login: string) => {
      const writer = { login, namespaces: [namespace] }
      turns.landed(MAIN, writer)
      const { release } = await turns.take(MAIN, writer)
      went.push(login)
      return release
    }
    const goOn = async (seconds: number): Promise<void> => {
      now += seconds * 1_000
      mock.timers.tick(seconds * 1_000)
      await settle()
    }
    // None gives its turn back: each is over after two seconds.
    const all = [take('first', 'first'), ...['a', 'b', 'c'].map((one) => take('busy', one))]
    all.push(...['d', 'e'].map((one) => take(one, one)))
    await settle()
    t.same(went, ['first'])
    await goOn(2)
    t.same(went.splice(0), ['first', 'a'])
    await goOn(2)
    const then = went.splice(0).sort()
    t.same(then, ['b', 'd', 'e'], 'two of them have waited for others for four seconds')
    await goOn(2)
    t.same(went, ['c'])
    await Promise.all(all)
  },
)

t.test('one that takes little waits for one turn of ten that push all the time', async (t) => {
  let now = 0
  const turns = openBranchTurns(() => now)
  const writer = (login: string): BranchWriter => ({ login, namespaces: [`of ${login}`] })
  const [busy, over] = [Array.from({ length: 10 }, (_, i) => `busy-${i}`), { isOver: false }]
  for (const login of [...busy, 'shop']) turns.landed(MAIN, writer(login))
  const held: (() => void)[] = []
  const pushes = busy.map(async (login) => {
    while (!over.isOver) {
      const { release } = await turns.take(MAIN, writer(login))
      await new Promise<void>((resolve) => held.push(resolve))
      release()
    }
  })
  async function endOne(): Promise<void> {
    now += 300
    held.shift()?.()
    await settle()
  }
  await settle()
  for (let times = 0; times < 60; times += 1) await endOne()
  const waits: number[] = []
  for (let times = 0; times < 5; times += 1) {
    const mine = turns.take(MAIN, writer('shop')).then(({ release }) => {
      now += 50
      release()
      return true
    })
    let ended = 0
    for (; !(await Promise.race([mine, settle().then(() => false)])); ended += 1) await endOne()
    waits.push(ended)
    for (let others = 0; others < 12; others += 1) await endOne()
  }
  t.same(waits, [1, 1, 1, 1, 1])
  over.isOver = true
  while (held.length > 0) await endOne()
  await Promise.all(pushes)
})

t.test('a push that was late takes another turn, unless it has one', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const turns = openBranchTurns()
  const batch = takeBatchTurns(turns, MAIN, { login: 'shop' })
  const { signal } = new AbortController()
  const release = await batch.acquire({ address: MAIN.repository, namespace: 'shop' }, signal)
  batch.begin({ namespace: 'shop', gaveWay: signal, release })
  await batch.again(['shop'], signal)
  let others = 0
  const other = turns.take(MAIN, { login: 'other', namespaces: ['other'] })
  void other.then(() => (others += 1))
  await settle()
  t.equal(others, 0, 'it has kept its turn')
  mock.timers.tick(2_000)
  await settle()
  t.equal(others, 1)
  let again = 0
  void batch.again(['market', 'shop'], signal).then(() => (again += 1))
  await settle()
  t.equal(again, 0, 'its own is over')
  ;(await other).release()
  await settle()
  t.equal(again, 1)
  const next = turns.take(MAIN, { login: 'other', namespaces: ['other'] })
  void next.then(() => (others += 1))
  await settle()
  t.equal(others, 1)
  batch.end()
  await settle()
  t.equal(others, 2)
  ;(await next).release()
})

t.test('what is known by then of a namespace counts for the turn that its push takes again', async (t) => {
  const asked: unknown[] = []
  const turns = openBranchTurns()
  const take: typeof turns.take = (target, writer, signal) => {
    asked.push(writer.slowMs)
    return turns.take(target, writer, signal)
  }
  let known: Slow = 'unknown'
  const batch = takeBatchTurns({ take }, MAIN, { login: 'all', slowMs: () => known })
  const release = await batch.acquire({ address: MAIN.repository, namespace: 'shop' }, NEVER)
  batch.begin({ namespace: 'shop', gaveWay: NEVER, release })
  batch.end()
  known = 0
  await batch.again(['shop'], NEVER)
  batch.end()
  known = 3_000
  await batch.again(['shop', 'market'], NEVER)
  batch.end()
  t.same(asked, ['unknown', 0, 0, 0], 'and none of what several share')
})

t.test('of those who have taken nothing yet, one with a small push is next', async (t) => {
  const turns = openBranchTurns(() => 0)
  const order: string[] = []
  async function push(login: string, likelyMs: number): Promise<void> {
    const { release } = await turns.take(MAIN, { login, namespaces: [login], likelyMs })
    order.push(login)
    release()
  }
  for (const login of ['first', 'large', 'larger', 'small'])
    turns.landed(MAIN, { login, namespaces: [login] })
  const first = await turns.take(MAIN, { login: 'first', namespaces: ['first'] })
  const all = [push('larger', 2_000), push('large', 1_000), push('small', 20)]
  await settle()
  first.release()
  await Promise.all(all)
  t.same(order, ['small', 'large', 'larger'])
})

t.test('one of which nothing is known has its turn after few of the others', async (t) => {
  let now = 0
  const turns = openBranchTurns(() => now)
  const order: string[] = []
  async function push(namespace: string, slowMs?: Slow): Promise<void> {
    const { release } = await turns.take(MAIN, {
      login: 'all',
      namespaces: [namespace],
      likelyMs: 20,
      slowMs,
    })
    order.push(namespace)
    await settle()
    now += 550
    release()
  }
  for (const namespace of ['new', 'shop', 'market', 'ops'])
    turns.landed(MAIN, { login: 'all', namespaces: [namespace] })
  async function pushAll(namespace: string): Promise<void> {
    for (let times = 0; times < 15; times += 1) await push(namespace)
  }
  const others = ['shop', 'market', 'ops'].map(pushAll)
  await Promise.all([push('new', 'unknown'), ...others])
  t.ok(order.indexOf('new') <= 6, `after ${order.indexOf('new')} turns`)
})
