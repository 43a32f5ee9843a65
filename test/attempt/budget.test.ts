import t from 'tap'
import { Failure } from '../../functions/domain/failure.ts'
import { makeFairSemaphore } from '../../functions/attempt/fair-semaphore.ts'
import type { Bounds, FairSemaphore } from '../../functions/attempt/fair-semaphore.ts'
import type { Holder, Release } from '../../functions/world.ts'

const BUSY = new Failure(
  'Conflict',
  'Too many attempts are waiting to start; Commitlet retries automatically.',
)
const bounds = withTurns(3)

function withTurns(total: number): Bounds {
  return {
    held: { total, perNamespace: 2, perHost: 2 },
    waiting: { total: 4, perNamespace: 3, perHost: 4 },
  }
}
let count = 0

/** A resource that comes only once. */
function of(namespace: string, host = namespace): Holder {
  count += 1
  return { namespace, host, resource: `${namespace}/${count}` }
}

async function take(turns: FairSemaphore, keys: Holder): Promise<Release> {
  const end = await turns.acquire(keys)
  if (end === undefined) throw new Error('it waits already')
  return end
}

t.test('no namespace and no host holds more than its share', async (t) => {
  const turns = makeFairSemaphore(bounds)
  const started: string[] = []
  const turn = async (name: string, keys: ReturnType<typeof of>): Promise<() => void> => {
    const end = await take(turns, keys)
    started.push(name)
    return end
  }
  const a1 = await turn('a1', of('a'))
  await turn('a2', of('a'))
  const a3 = turn('a3', of('a'))
  await turn('b1', of('b'))
  t.same(started, ['a1', 'a2', 'b1'], 'a third turn is free, but not for a')
  a1()
  await a3
  t.same(started, ['a1', 'a2', 'b1', 'a3'])
})

t.test('a host that hangs leaves slots for others', async (t) => {
  const turns = makeFairSemaphore(bounds)
  await take(turns, of('a', 'slow.example.com'))
  await take(turns, of('b', 'slow.example.com'))
  let third = false
  void take(turns, of('c', 'slow.example.com')).then(() => (third = true))
  const other = await take(turns, of('c', 'git.example.com'))
  t.notOk(third)
  other()
})

t.test('the next slot goes to the namespace that has the fewest', async (t) => {
  const turns = makeFairSemaphore(withTurns(2))
  const order: string[] = []
  const end1 = await take(turns, of('a'))
  const end2 = await take(turns, of('a'))
  const a = take(turns, of('a')).then((end) => (order.push('a'), end))
  const b = take(turns, of('b')).then((end) => (order.push('b'), end))
  end1()
  end1()
  await b
  t.same(order, ['b'], 'though a came first')
  end2()
  await a
  t.same(order, ['b', 'a'])
})

t.test('where too many wait, the next one is refused at once', async (t) => {
  const turns = makeFairSemaphore(bounds)
  await take(turns, of('a'))
  await take(turns, of('a'))
  for (let i = 0; i < 3; i += 1) void take(turns, of('a'))
  await t.rejects(take(turns, of('a')), BUSY, 'a has its places')
  await take(turns, of('b'))
  void take(turns, of('c'))
  await t.rejects(take(turns, of('d')), BUSY, 'all places are taken')
})

t.test('a slot that is released lets in everyone who has room then', async (t) => {
  const turns = makeFairSemaphore(withTurns(4))
  const end = await take(turns, of('a', 'one.example.com'))
  await take(turns, of('a', 'two.example.com'))
  await take(turns, of('b', 'one.example.com'))
  const started: string[] = []
  void take(turns, of('a', 'three.example.com')).then(() => started.push('a'))
  const last = take(turns, of('c', 'one.example.com')).then(() => started.push('c'))
  end()
  await last
  t.same(started.sort(), ['a', 'c'])
})

t.test('a resource waits once', async (t) => {
  const turns = makeFairSemaphore(withTurns(1))
  const keys = of('a')
  const end = await take(turns, of('b'))
  const first = take(turns, keys)
  t.equal(await turns.acquire(keys), undefined)
  end()
  await first
})

t.test('one host does not fill the waiting list', async (t) => {
  const turns = makeFairSemaphore({
    held: { total: 1, perNamespace: 1, perHost: 1 },
    waiting: { total: 10, perNamespace: 1, perHost: 2 },
  })
  await take(turns, of('z'))
  for (const namespace of ['a', 'b']) void take(turns, of(namespace, 'slow.example.com'))
  await t.rejects(turns.acquire(of('c', 'slow.example.com')), BUSY)
  void turns.acquire(of('c', 'git.example.com'))
})

t.test('once closed, it refuses those that wait and those that come; those that run go on', async (t) => {
  const turns = makeFairSemaphore(withTurns(1))
  const end = await take(turns, of('a'))
  const waiting = t.rejects(turns.acquire(of('b')), BUSY)
  turns.close()
  await waiting
  await t.rejects(turns.acquire(of('c')), BUSY)
  end()
  end()
})
