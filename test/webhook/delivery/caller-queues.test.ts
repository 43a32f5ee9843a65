import t from 'tap'
import { appliedEvent, calledFrom } from '../../../functions/domain/event/applied-event.ts'
import { resourceKey } from '../../../functions/domain/resource/resource.ts'
import { makeCallerQueues, type CallerQueues, type ShareOf } from '../../../webhook/delivery/caller-queues.ts'
import { shareOf, SINK_LIMITS } from '../../../webhook/delivery/sink-limits.ts'
import { gitCommit } from '../stage.ts'

const [SERVER, POD] = ['192.0.2.1', '192.0.2.2'] as const

function event(address: string, namespace: string, name: string) {
  return calledFrom(appliedEvent(gitCommit({ namespace, name }), 'id'), address)
}

function queuesOf(waiting: number, sweptPerNamespace = waiting): CallerQueues {
  return makeCallerQueues({ waiting, waitingPerNamespace: waiting, sweptPerNamespace })
}

/** Takes so many events, or all. */
function take(queues: CallerQueues, most = Infinity, share: ShareOf = () => Infinity) {
  const taken: string[] = []
  while (taken.length < most) {
    const next = queues.take(share)
    if (next === undefined) break
    taken.push(`${next.data.namespace}/${next.data.name}`)
  }
  return taken
}

t.test('whatever others name, a caller has its turn', async (t) => {
  const queues = queuesOf(1_000)
  for (let i = 0; i < 200; i += 1) queues.add(event(POD, 'shop', `invented-${i}`))
  for (let i = 0; i < 200; i += 1) queues.add(event(POD, `invented-${i}`, 'any'))
  take(queues, 50)
  for (const name of ['a', 'b']) queues.add(event(SERVER, 'shop', name))
  t.same(take(queues, 2), ['shop/a', 'shop/b'])
  t.equal(queues.size(), 350)
})

t.test(
  'one caller alone has four fifths of those in flight, and another one as much of the rest',
  async (t) => {
    const queues = queuesOf(10_000)
    const fill = (address: string): number => {
      for (let i = 0; i < 1_000; i += 1) queues.add(event(address, `any-${i}`, 'one'))
      return take(queues, Infinity, shareOf(SINK_LIMITS)).length
    }
    const first = fill(POD)
    t.equal(first, 256)
    t.equal(fill(SERVER), Math.ceil(((SINK_LIMITS.inFlight - first) * 4) / 5))
  },
)

t.test('an event of another caller does not replace one that waits', async (t) => {
  const queues = queuesOf(10)
  queues.add(event(SERVER, 'shop', 'a'))
  const forged = event(POD, 'shop', 'a')
  queues.add(forged)
  t.equal(queues.size(), 2)
  t.ok(queues.has(resourceKey(forged.data)))
  t.same(take(queues), ['shop/a', 'shop/a'])
  t.notOk(queues.has(resourceKey(forged.data)))
})

t.test('without room, the caller with the most waiting events loses one', async (t) => {
  const queues = queuesOf(10)
  for (let i = 0; i < 10; i += 1) queues.add(event(POD, 'shop', `invented-${i}`))
  t.match(queues.add(event(SERVER, 'shop', 'a')), { data: { name: 'invented-0' } })
  t.match(queues.add(event(POD, 'shop', 'more')), { data: { name: 'more' } }, 'it has no other namespace')
  t.match(queues.add(event(POD, 'bank', 'more')), { data: { name: 'invented-1' } })
  t.equal(queues.size(), 10)
  t.ok(take(queues, 2).includes('shop/a'))
})

t.test('sweeps have room, whatever waits for other callers', async (t) => {
  const queues = queuesOf(10, 2)
  for (let i = 0; i < 5; i += 1) queues.add(event(POD, 'shop', `invented-${i}`))
  t.ok(queues.hasRoom('shop'))
  for (const name of ['a', 'b']) {
    t.ok(queues.hasRoom('shop'))
    queues.add(appliedEvent(gitCommit({ namespace: 'shop', name }), 'id'))
  }
  t.notOk(queues.hasRoom('shop'))
  t.ok(queues.hasRoom('bank'))
  for (let i = 0; i < 3; i += 1) queues.add(event(POD, 'bank', `invented-${i}`))
  t.ok(queues.hasRoom('bank'), 'of whoever has more')
  const swept = appliedEvent(gitCommit({ namespace: 'bank', name: 'a' }), 'id')
  t.match(queues.add(swept), { data: { name: 'invented-0' } })
  for (let i = 0; i < 4; i += 1) queues.add(appliedEvent(gitCommit({ namespace: `${i}`, name: 'a' }), 'id'))
  t.notOk(queues.hasRoom('more'))
})

t.test('what has ended makes room for the next one of its caller', async (t) => {
  const queues = queuesOf(10)
  const one = (): number => 1
  for (const name of ['a', 'b']) queues.add(event(POD, 'shop', name))
  const first = queues.take(one)
  t.equal(queues.take(one), undefined)
  if (first !== undefined) queues.release(first)
  t.same(take(queues, 1, one), ['shop/b'])
})
