import { mock } from 'node:test'
import t from 'tap'
import { appliedEvent } from '../../../functions/domain/event/applied-event.ts'
import { makeSecondSending } from '../../../webhook/delivery/second-sending.ts'
import { gitCommit } from '../stage.ts'

function stage(most = 10) {
  mock.timers.enable({ apis: ['setTimeout'] })
  const sent: string[] = []
  const again = makeSecondSending((event) => void sent.push(event.attributes['id'] ?? ''), {
    afterMs: 31_000,
    most,
  })
  const add = (name: string, id = name) => again.add(appliedEvent(gitCommit({ namespace: 'shop', name }), id))
  return { sent, again, add }
}

t.afterEach(() => mock.timers.reset())

t.test('an event is sent once, when the time has come', async (t) => {
  const { sent, add } = stage()
  add('a')
  mock.timers.tick(30_999)
  t.same(sent, [])
  mock.timers.tick(1)
  t.same(sent, ['a'])
  mock.timers.tick(100_000)
  t.same(sent, ['a'])
})

t.test('of the events of a resource the newest is sent, a while after it', async (t) => {
  const { sent, add } = stage()
  add('a', 'first')
  mock.timers.tick(20_000)
  add('a', 'second')
  mock.timers.tick(20_000)
  t.same(sent, [])
  mock.timers.tick(11_000)
  t.same(sent, ['second'])
})

t.test('events above the limit are left to the sweeps, and after the end nothing is sent', async (t) => {
  const { sent, add, again } = stage(2)
  for (const name of ['a', 'b', 'c']) add(name)
  mock.timers.tick(31_000)
  t.same(sent, ['a', 'b'])
  add('d')
  again.stop()
  mock.timers.tick(31_000)
  t.same(sent, ['a', 'b'])
})
