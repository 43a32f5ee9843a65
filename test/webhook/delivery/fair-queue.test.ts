import t from 'tap'
import { appliedEvent } from '../../../functions/domain/event/applied-event.ts'
import { resourceKey } from '../../../functions/domain/resource/resource.ts'
import type { FairQueue } from '../../../webhook/delivery/fair-queue.ts'
import { makeFairQueue } from '../../../webhook/delivery/fair-queue.ts'
import { cpuTime } from '../../harness/cpu-time.ts'
import { allowedMs } from '../../harness/growth.ts'
import { gitCommit } from '../stage.ts'

function event(namespace: string, name: string, generation = 1) {
  return appliedEvent(gitCommit({ namespace, name, generation }), 'id')
}

function queueOf(waiting: number, waitingPerNamespace = waiting, sweptPerNamespace = waiting): FairQueue {
  return makeFairQueue({ waiting, waitingPerNamespace, sweptPerNamespace })
}

function takeAll(list: FairQueue): string[] {
  const taken: string[] = []
  for (let next = list.take(); next !== undefined; next = list.take()) {
    taken.push(`${next.data.namespace}/${next.data.name}@${next.data.generation}`)
  }
  return taken
}

t.test('within a namespace the first comes first', async (t) => {
  const list = queueOf(10)
  for (const name of ['a', 'b', 'c']) t.equal(list.add(event('shop', name)), undefined)
  t.equal(list.size(), 3)
  t.strictSame(takeAll(list), ['shop/a@1', 'shop/b@1', 'shop/c@1'])
  t.equal(list.size(), 0)
})

t.test('a sweep adds fewer events of a namespace than there may be', async (t) => {
  const list = queueOf(10, 3, 2)
  for (const name of ['a', 'b']) t.equal(list.add(event('shop', name)), undefined)
  t.notOk(list.hasRoom('shop'))
  t.ok(list.hasRoom('bank'))
  t.equal(list.add(event('shop', 'c')), undefined)
  t.match(list.add(event('shop', 'd')), { data: { name: 'd' } })
})

t.test('namespaces that are equally busy take turns', async (t) => {
  const list = queueOf(10)
  for (const name of ['a', 'b', 'c']) list.add(event('shop', name))
  list.add(event('bank', 'x'))
  t.strictSame(takeAll(list), ['shop/a@1', 'bank/x@1', 'shop/b@1', 'shop/c@1'])
})

t.test('the namespace with the fewest in flight is next', async (t) => {
  const list = queueOf(10)
  for (const name of ['a', 'b', 'c', 'd']) list.add(event('shop', name))
  t.match([list.take(), list.take()], [{ data: { name: 'a' } }, { data: { name: 'b' } }])
  for (const name of ['x', 'y']) list.add(event('bank', name))
  t.strictSame(takeAll(list), ['bank/x@1', 'bank/y@1', 'shop/c@1', 'shop/d@1'])
})

t.test('a namespace that has its share in flight waits', async (t) => {
  const list = queueOf(10)
  for (const name of ['a', 'b', 'c']) list.add(event('shop', name))
  list.take(2)
  list.take(2)
  t.equal(list.take(2), undefined)
  list.add(event('bank', 'x'))
  t.match(list.take(2), { data: { name: 'x' } })
  t.equal(list.take(2), undefined)
  list.release('shop')
  t.match(list.take(2), { data: { name: 'c' } })
})

t.test('what was released is forgotten', async (t) => {
  const list = queueOf(10)
  list.add(event('shop', 'a'))
  list.take()
  list.release('shop')
  list.add(event('shop', 'b'))
  t.match(list.take(1), { data: { name: 'b' } })
})

t.test('a resource waits once, with its newest event and in its old position', async (t) => {
  const list = queueOf(2)
  for (const name of ['a', 'b']) list.add(event('shop', name))
  t.equal(list.add(event('shop', 'a', 2)), undefined, 'a full list takes the newer event as well')
  t.equal(list.size(), 2)
  t.ok(list.has(resourceKey(event('shop', 'a').data)))
  t.notOk(list.has(resourceKey(event('shop', 'c').data)))
  t.notOk(list.has(resourceKey(event('bank', 'a').data)))
  t.strictSame(takeAll(list), ['shop/a@2', 'shop/b@1'])
})

t.test('a full list refuses the namespace with the longest queue', async (t) => {
  const list = queueOf(3)
  for (const name of ['a', 'b', 'c']) list.add(event('shop', name))
  const late = event('shop', 'd')
  t.equal(list.add(late), late)
  t.strictSame(takeAll(list), ['shop/a@1', 'shop/b@1', 'shop/c@1'])
})

t.test('a full list makes room for another namespace', async (t) => {
  const list = queueOf(3)
  for (const name of ['a', 'b', 'c']) list.add(event('shop', name))
  t.match(list.add(event('bank', 'x')), { data: { name: 'a' } })
  t.equal(list.size(), 3)
  t.strictSame(takeAll(list), ['shop/b@1', 'bank/x@1', 'shop/c@1'])
})

t.test('a namespace has a bound of its own, and room says so', async (t) => {
  const list = queueOf(4, 2)
  for (const name of ['a', 'b']) t.equal(list.add(event('shop', name)), undefined)
  const late = event('shop', 'c')
  t.notOk(list.hasRoom('shop'))
  t.equal(list.add(late), late)
  t.equal(list.add(event('shop', 'b', 2)), undefined, 'a newer event of a resource that waits')
  for (const name of ['x', 'y']) list.add(event('bank', name))
  t.ok(list.hasRoom('mine'), 'full, but another one has more')
  t.match(list.add(event('mine', 'm')), { data: { namespace: 'shop', name: 'a' } })
  t.notOk(list.hasRoom('shop'), 'bank has more, but only by one')
  t.strictSame(takeAll(list), ['shop/b@2', 'bank/x@1', 'mine/m@1', 'bank/y@1'])
})

t.test('10,000 namespaces do not hold the event loop', async (t) => {
  const count = 10_000
  const list = queueOf(count, 1_000)
  const [first, second] = ['a', 'b'].map((name) =>
    Array.from({ length: count }, (_, index) => event(`namespace-${index}`, name)),
  )
  const before = cpuTime()
  for (const one of first ?? []) list.add(one)
  for (const one of second ?? []) list.add(one)
  t.equal(takeAll(list).length, count)
  const took = cpuTime() - before
  t.ok(took < allowedMs(50), `${took} ms for 30,000 calls; with a loop over the namespaces it was 1.1 s`)
})

t.test('a list without room refuses everything', async (t) => {
  const list = queueOf(0)
  const only = event('shop', 'a')
  t.equal(list.add(only), only)
  t.strictSame(takeAll(list), [])
})
