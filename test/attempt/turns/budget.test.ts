import t from 'tap'
import { atMost } from '../../../functions/attempt/turns/amounts.ts'
import { makeBudget } from '../../../functions/attempt/turns/budget.ts'
import { Failure } from '../../../functions/domain/failure.ts'
import type { Hold, Lane } from '../../../functions/attempt/turns/lane.ts'
import type { LaneBounds } from '../../../functions/attempt/turns/lane-bounds.ts'
import type { Release } from '../../../functions/domain/network/budget.ts'
import type { Cost } from '../../../functions/attempt/turns/cost.ts'
import type { Holder } from '../../../functions/world.ts'

const BUSY = new Failure(
  'Conflict',
  'Too many attempts are waiting to start; Commitlet retries automatically.',
)
const STOCK = { memoryMiB: 100, diskMiB: 100, diskIsMemory: false }
const NOTHING = { memoryMiB: 0, diskMiB: 0 }
const bounds = withTurns(3)

function withTurns(total: number): LaneBounds {
  return {
    held: { total: atMost(total), perNamespace: atMost(2), perHost: atMost(2), ofSlow: atMost(1) },
    waiting: { total: 4, perNamespace: 3, perHost: 4 },
  }
}

/** Only memory and disk limit this lane. */
function unbounded(more: Partial<LaneBounds['held']> = {}): LaneBounds {
  const held = {
    total: atMost(99),
    perNamespace: atMost(99),
    perHost: atMost(99),
    ofSlow: atMost(99),
    ...more,
  }
  return { held, waiting: { total: 99, perNamespace: 99, perHost: 99 } }
}

function laneOf(wanted: LaneBounds): Lane {
  return makeBudget(STOCK).open(wanted)
}

let count = 0

/** A resource that comes only once. */
function of(namespace: string, host = namespace): Holder {
  count += 1
  return { namespace, host, resource: `${namespace}/${count}` }
}

async function hold(lane: Lane, holder: Holder, cost: Cost = NOTHING): Promise<Hold> {
  const held = await lane.acquire(cost, holder)
  if (held === undefined) throw new Error('it waits already')
  return held
}

async function take(lane: Lane, holder: Holder, cost: Cost = NOTHING): Promise<Release> {
  return (await hold(lane, holder, cost)).release
}

/** MiB of memory, and of disk. */
function mib(memoryMiB: number, diskMiB = 0): Cost {
  return { memoryMiB, diskMiB }
}

/** Names in the order in which their shares were granted. */
function recorder() {
  const started: string[] = []
  const turn = async (name: string, lane: Lane, holder: Holder, cost: Cost = NOTHING): Promise<Release> => {
    const end = await take(lane, holder, cost)
    started.push(name)
    return end
  }
  return { started, turn }
}

t.test('no namespace and no host holds more than its share', async (t) => {
  const lane = laneOf(bounds)
  const { started, turn } = recorder()
  const a1 = await turn('a1', lane, of('a'))
  await turn('a2', lane, of('a'))
  const a3 = turn('a3', lane, of('a'))
  await turn('b1', lane, of('b'))
  t.same(started, ['a1', 'a2', 'b1'], 'a third turn is free, but not for a')
  a1()
  await a3
  t.same(started, ['a1', 'a2', 'b1', 'a3'])
})

t.test('a host that hangs leaves slots for others', async (t) => {
  const lane = laneOf(bounds)
  await take(lane, of('a', 'slow.example.com'))
  await take(lane, of('b', 'slow.example.com'))
  let third = false
  void take(lane, of('c', 'slow.example.com')).then(() => (third = true))
  const other = await take(lane, of('c', 'git.example.com'))
  t.notOk(third)
  other()
})

t.test('the next slot goes to the namespace that holds the least memory', async (t) => {
  const lane = laneOf(withTurns(2))
  const { started, turn } = recorder()
  const end1 = await take(lane, of('a'), mib(20))
  const end2 = await take(lane, of('a'), mib(20))
  const a = turn('a', lane, of('a'))
  const b = turn('b', lane, of('b'))
  end1()
  end1()
  await b
  t.same(started, ['b'], 'though a came first')
  end2()
  await a
  t.same(started, ['b', 'a'])
})

t.test('where too many wait, the next one is refused at once', async (t) => {
  const lane = laneOf(bounds)
  await take(lane, of('a'))
  await take(lane, of('a'))
  for (let i = 0; i < 3; i += 1) void take(lane, of('a'))
  await t.rejects(take(lane, of('a')), BUSY, 'a has its places')
  await take(lane, of('b'))
  void take(lane, of('c'))
})

t.test('a slot that is released lets in everyone who has room then', async (t) => {
  const lane = laneOf(withTurns(4))
  const { started, turn } = recorder()
  const end = await take(lane, of('a', 'one.example.com'))
  await take(lane, of('a', 'two.example.com'))
  await take(lane, of('b', 'one.example.com'))
  void turn('a', lane, of('a', 'three.example.com'))
  const last = turn('c', lane, of('c', 'one.example.com'))
  end()
  await last
  t.same(started.sort(), ['a', 'c'])
})

t.test('a resource waits once', async (t) => {
  const lane = laneOf(withTurns(1))
  const holder = of('a')
  const end = await take(lane, of('b'))
  const first = take(lane, holder)
  t.equal(await lane.acquire(NOTHING, holder), undefined)
  end()
  await first
})

t.test('one host does not fill the waiting list', async (t) => {
  const lane = laneOf({
    held: { total: atMost(1), perNamespace: atMost(1), perHost: atMost(1), ofSlow: atMost(1) },
    waiting: { total: 10, perNamespace: 1, perHost: 2 },
  })
  await take(lane, of('z'))
  for (const namespace of ['a', 'b']) void take(lane, of(namespace, 'slow.example.com'))
  await t.rejects(take(lane, of('c', 'slow.example.com')), BUSY)
  void take(lane, of('c', 'git.example.com'))
})

t.test('once closed, it refuses those that wait and those that come; those that run go on', async (t) => {
  const lane = laneOf(withTurns(1))
  const end = await take(lane, of('a'))
  const waiting = t.rejects(take(lane, of('b')), BUSY)
  lane.close()
  await waiting
  await t.rejects(take(lane, of('c')), BUSY)
  end()
  end()
})

t.test('memory and disk are never given twice', async (t) => {
  for (const [what, cost] of [
    ['memory', mib(40, 0)],
    ['disk', mib(0, 40)],
  ] as const) {
    const lane = laneOf(unbounded())
    const { started, turn } = recorder()
    const end = await turn('first', lane, of('a'), cost)
    await turn('second', lane, of('b'), cost)
    const third = turn('third', lane, of('c'), cost)
    await new Promise(setImmediate)
    t.same(started, ['first', 'second'], `100 MiB of ${what} are for two`)
    end()
    await third
  }
})

t.test('what is stored in memory counts as memory as well', async (t) => {
  const lane = makeBudget({ ...STOCK, diskIsMemory: true }).open(unbounded())
  const { started, turn } = recorder()
  const end = await turn('first', lane, of('a'), mib(30, 30))
  const second = turn('second', lane, of('b'), mib(30, 30))
  await new Promise(setImmediate)
  t.same(started, ['first'])
  end()
  await second
})

t.test('much is not kept waiting by little', async (t) => {
  const lane = laneOf(unbounded())
  const { started, turn } = recorder()
  const end = await turn('first', lane, of('a'), mib(60))
  const much = turn('much', lane, of('b'), mib(60))
  const little = turn('little', lane, of('c'), mib(10))
  await new Promise(setImmediate)
  t.same(started, ['first'])
  end()
  await Promise.all([much, little])
  t.same(started, ['first', 'much', 'little'])
})

t.test('much that waits for what is parked keeps nobody waiting', async (t) => {
  const lane = laneOf(unbounded())
  const { started, turn } = recorder()
  const parked = await hold(lane, of('a'), mib(20))
  parked.park(20 * 1024 * 1024)
  const working = await take(lane, of('b'), mib(5))
  const much = turn('much', lane, of('c'), mib(90))
  const little = await turn('little', lane, of('d'), mib(10))
  working()
  little()
  t.same(started, ['little'])
  parked.release()
  await much
})

t.test('what a namespace may hold does not keep others waiting', async (t) => {
  const lane = laneOf(unbounded({ perNamespace: { ...atMost(9), memoryMiB: 30 } }))
  await take(lane, of('a'), mib(20))
  void take(lane, of('a'), mib(20))
  t.ok(await take(lane, of('b'), mib(20)))
})

t.test('whoever holds nothing gets more than the share of a namespace', async (t) => {
  const lane = laneOf(unbounded({ perNamespace: { ...atMost(9), memoryMiB: 30 } }))
  t.ok(await take(lane, of('a'), mib(90)))
})

t.test('lanes take from the same stock, and what one gives back serves the other', async (t) => {
  const budget = makeBudget(STOCK)
  const [large, small] = [budget.open(unbounded()), budget.open(unbounded())]
  const { started, turn } = recorder()
  const end = await turn('small', small, of('a'), mib(60))
  const others = [turn('small again', small, of('a'), mib(50)), turn('large', large, of('b'), mib(50))]
  await new Promise(setImmediate)
  t.same(started, ['small'])
  end()
  await Promise.all(others)
  t.same(started, ['small', 'large', 'small again'], 'the lane that was opened first is served first')
})

t.test('whoever gives up waiting leaves no trace', async (t) => {
  const lane = laneOf(unbounded())
  const end = await take(lane, of('a'), mib(60))
  const abort = new AbortController()
  const given = lane.acquire(mib(60), of('b'), abort.signal)
  const behind = take(lane, of('c'), mib(30))
  abort.abort()
  await t.rejects(given, BUSY)
  await behind
  end()
  t.ok(await take(lane, of('d'), mib(70)), 'nothing is held for b')
  await t.rejects(lane.acquire(mib(1), of('e'), abort.signal), BUSY)
})

t.test('work that only waits keeps its bytes, and gives its turn to the next', async (t) => {
  const lane = laneOf(withTurns(1))
  const first = await hold(lane, of('a'), mib(10))
  const second = hold(lane, of('b'), mib(10))
  t.equal(lane.inHand().length, 1)
  first.park(4 * 1024 * 1024)
  const next = await second
  t.equal(lane.inHand().length, 1, 'the one that waits is not at work')
  next.release()
  first.release()
  first.park(1)
  first.release()
  t.same(lane.inHand(), [])
})

t.test('a namespace whose changes wait with all its bytes gets no turn until one has ended', async (t) => {
  const lane = laneOf(unbounded({ perNamespace: { count: 99, memoryMiB: 10, diskMiB: 99 } }))
  const parked = await hold(lane, of('a'), mib(5))
  parked.park(6 * 1024 * 1024)
  let isStarted = false
  const next = hold(lane, of('a'), mib(5)).then((held) => {
    isStarted = true
    return held
  })
  const other = await hold(lane, of('b'), mib(5))
  t.notOk(isStarted, 'others do not wait for it')
  parked.release()
  await next
  other.release()
})

t.test('what was admitted before may wait beyond the bound, and in a closed lane', async (t) => {
  const lane = laneOf(withTurns(1))
  const end = await take(lane, of('a'))
  const waiting = ['b', 'c', 'd', 'e'].map((name) => take(lane, of(name)))
  await t.rejects(take(lane, of('f')), BUSY)
  const admitted = hold(lane, { ...of('f'), admitted: true })
  const refused = Promise.all(waiting.map((one) => t.rejects(one, BUSY)))
  lane.close()
  await refused
  const later = hold(lane, { ...of('g'), admitted: true })
  end()
  ;(await admitted).release()
  ;(await later).release()
  t.same(lane.inHand(), [])
})
