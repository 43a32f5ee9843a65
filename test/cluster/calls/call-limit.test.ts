import { getEventListeners } from 'node:events'
import { mock } from 'node:test'
import t from 'tap'
import { limited } from '../../../functions/cluster/calls/call-limit.ts'

t.test('a time limit fires with the first of its signals, also of those that have fired', async (t) => {
  const ending = new AbortController()
  const { signal } = limited([new AbortController().signal, ending.signal], 60_000)
  t.notOk(signal.aborted)
  ending.abort(new Error('ended'))
  for (const one of [signal, limited([ending.signal], 60_000).signal])
    t.match(one, { aborted: true, reason: { message: 'ended' } })
})

t.test('a time limit fires when its time is over', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const { signal } = limited([], 10)
  mock.timers.tick(9)
  t.notOk(signal.aborted)
  mock.timers.tick(1)
  t.equal((signal.reason as Error).name, 'TimeoutError')
})

t.test('a time limit that was released fires no more, and leaves no listener', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const ending = new AbortController()
  const { signal, release } = limited([ending.signal], 10)
  release()
  t.same(getEventListeners(ending.signal, 'abort'), [])
  ending.abort()
  mock.timers.tick(10)
  t.notOk(signal.aborted)
})
