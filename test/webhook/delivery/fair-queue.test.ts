import t from 'tap'
import { appliedEvent } from '../../../functions/domain/event/applied-event.ts'
import { makeFairQueue, resourceKey } from '../../../webhook/delivery/fair-queue.ts'
import { gitCommit } from '../stage.ts'

const IDLE: ReadonlyMap<string, number> = new Map()

function event(namespace: string, name: string, generation = 1) {
  return appliedEvent(gitCommit({ namespace, name, generation }), 'id')
}

function takeAll(list: ReturnType<typeof makeFairQueue>, inFlight = IDLE): string[] {
  const taken: string[] = []
  for (let next = list.take(inFlight); next !== undefined; next = list.take(inFlight)) {
    taken.push(`${next.data.namespace}/${next.data.name}@${next.data.generation}`)
  }
  return taken
}

t.test('within a namespace the first comes first', async (t) => {
  const list = makeFairQueue(10)
  for (const name of ['a', 'b', 'c']) t.equal(list.add(event('shop', name)), undefined)
  t.equal(list.size(), 3)
  t.strictSame(takeAll(list), ['shop/a@1', 'shop/b@1', 'shop/c@1'])
  t.equal(list.size(), 0)
})

t.test('namespaces that are equally busy take turns', async (t) => {
  const list = makeFairQueue(10)
  for (const name of ['a', 'b', 'c']) list.add(event('shop', name))
  list.add(event('bank', 'x'))
  t.strictSame(takeAll(list), ['shop/a@1', 'bank/x@1', 'shop/b@1', 'shop/c@1'])
})

t.test('the namespace with the fewest in flight is next', async (t) => {
  const list = makeFairQueue(10)
  for (const name of ['a', 'b']) list.add(event('shop', name))
  for (const name of ['x', 'y']) list.add(event('bank', name))
  t.strictSame(takeAll(list, new Map([['shop', 2]])), ['bank/x@1', 'bank/y@1', 'shop/a@1', 'shop/b@1'])
})

t.test('a namespace that has its share in flight waits', async (t) => {
  const list = makeFairQueue(10)
  list.add(event('shop', 'a'))
  const busy = new Map([['shop', 2]])
  t.equal(list.take(busy, 2), undefined)
  list.add(event('bank', 'x'))
  t.match(list.take(busy, 2), { data: { name: 'x' } })
  t.match(list.take(busy, 3), { data: { name: 'a' } })
})

t.test('a resource waits once, with its newest event and in its old position', async (t) => {
  const list = makeFairQueue(2)
  for (const name of ['a', 'b']) list.add(event('shop', name))
  t.equal(list.add(event('shop', 'a', 2)), undefined, 'a full list takes the newer event as well')
  t.equal(list.size(), 2)
  t.ok(list.has(resourceKey(event('shop', 'a').data)))
  t.notOk(list.has(resourceKey(event('shop', 'c').data)))
  t.notOk(list.has(resourceKey(event('bank', 'a').data)))
  t.strictSame(takeAll(list), ['shop/a@2', 'shop/b@1'])
})

t.test('a full list refuses the namespace with the longest queue', async (t) => {
  const list = makeFairQueue(3)
  for (const name of ['a', 'b', 'c']) list.add(event('shop', name))
  const late = event('shop', 'd')
  t.equal(list.add(late), late)
  t.strictSame(takeAll(list), ['shop/a@1', 'shop/b@1', 'shop/c@1'])
})

t.test('a full list makes room for another namespace', async (t) => {
  const list = makeFairQueue(3)
  for (const name of ['a', 'b', 'c']) list.add(event('shop', name))
  t.match(list.add(event('bank', 'x')), { data: { name: 'a' } })
  t.equal(list.size(), 3)
  t.strictSame(takeAll(list), ['shop/b@1', 'bank/x@1', 'shop/c@1'])
})

t.test('a list without room refuses everything', async (t) => {
  const list = makeFairQueue(0)
  const only = event('shop', 'a')
  t.equal(list.add(only), only)
  t.strictSame(takeAll(list), [])
})
