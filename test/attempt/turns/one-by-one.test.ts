import { mock } from 'node:test'
import t from 'tap'
import { atMost } from '../../../functions/attempt/turns/amounts.ts'
import { watchThread } from '../../../functions/attempt/turns/thread/busy-thread.ts'
import { openLaneStage } from './lane-stage.ts'

t.beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }))
t.afterEach(() => mock.timers.reset())

/** A lane with room for all, beside a thread that is busy. */
function stage() {
  const thread = { isBusy: true }
  const bounds = {
    held: { total: atMost(64), perNamespace: atMost(8), perHost: atMost(48), ofSlow: atMost(16) },
    waiting: { total: 100, perNamespace: 100, perHost: 100 },
    oneByOne: true,
  } as const
  return { thread, ...openLaneStage(bounds, () => thread.isBusy) }
}

t.test('while the thread is busy, a namespace begins one by one, and another one at once', async (t) => {
  const { events, take, after } = stage()
  await take('b/1')
  const first = await take('a/1')
  void take('a/2')
  void take('a/3')
  await take('c/1')
  await after(0)
  t.strictSame(events, ['b/1', 'a/1', 'c/1'])
  first?.release()
  await after(0)
  t.strictSame(events, ['b/1', 'a/1', 'c/1', 'a/2'])
})

t.test('a server that takes long keeps no other attempt of its namespace waiting for long', async (t) => {
  const { events, take, after } = stage()
  for (const name of ['b/1', 'a/1', 'a/2', 'a/3']) void take(name)
  await after(0)
  t.strictSame(events, ['b/1', 'a/1'])
  await after(250)
  t.strictSame(events, ['b/1', 'a/1', 'a/2'])
  await after(250)
  t.strictSame(events, ['b/1', 'a/1', 'a/2', 'a/3'])
})

t.test('as soon as the thread is not busy any more, all begin that have room', async (t) => {
  const { thread, events, take, after } = stage()
  for (const name of ['b/1', 'a/1', 'a/2', 'a/3']) void take(name)
  await after(0)
  t.strictSame(events, ['b/1', 'a/1'])
  thread.isBusy = false
  await after(250)
  t.strictSame(events, ['b/1', 'a/1', 'a/2', 'a/3'])
})

t.test('a namespace alone has as many at once as ever, however busy the thread is', async (t) => {
  const { events, take, after } = stage()
  for (const name of ['a/1', 'a/2', 'a/3']) void take(name)
  await after(250)
  t.strictSame(events, ['a/1', 'a/2', 'a/3'])
})

t.test('the thread is busy if it had no rest in the last 250 ms', (t) => {
  let [now, active] = [0, 0]
  const isBusy = watchThread({ elapsed: () => now, active: () => active })
  const go = (milliseconds: number, atWork: number): boolean => {
    now += milliseconds
    active += atWork
    return isBusy()
  }
  t.notOk(go(100, 100), 'too short to tell')
  t.ok(go(150, 150))
  t.ok(go(100, 0), 'nothing new is known')
  t.notOk(go(150, 150), 'it had a rest')
  t.notOk(go(60_000, 1_000))
  t.end()
})
