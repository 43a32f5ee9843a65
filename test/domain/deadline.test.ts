import { getEventListeners } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { collect } from '../harness/collect.ts'
import { anySignal, unlessAborted } from '../../functions/domain/deadline.ts'
import { Failure } from '../../functions/domain/failure.ts'

const late = (): Failure => new Failure('Timeout', 'It took too long.')

t.test('work that ends first gives its own result, and leaves no listener', async (t) => {
  const { signal } = new AbortController()
  t.equal(await unlessAborted(Promise.resolve('done'), signal, late), 'done')
  await t.rejects(unlessAborted(Promise.reject(new TypeError('a bug')), signal, late), new TypeError('a bug'))
  t.same(getEventListeners(signal, 'abort'), [])
})

t.test('a signal that fires first ends the wait, and the later result of the work is ignored', async (t) => {
  const work = Promise.withResolvers<never>()
  const ending = new AbortController()
  const waiting = unlessAborted(work.promise, ending.signal, late)
  t.equal(getEventListeners(ending.signal, 'abort').length, 1)
  ending.abort()
  await t.rejects(waiting, { reason: 'Timeout', message: 'It took too long.' })
  t.same(getEventListeners(ending.signal, 'abort'), [])
  // An unhandled rejection would end the process of this test.
  work.reject(new Error('too late'))
  await setImmediate()
})

t.test('a signal that has already fired wins over work that is done', async (t) => {
  const timeout = { reason: 'Timeout', message: 'It took too long.' }
  await t.rejects(unlessAborted(Promise.resolve(1), AbortSignal.abort(), late), timeout)
  const failed = Promise.reject(new Error('too late'))
  await t.rejects(unlessAborted(failed, AbortSignal.abort(), late), timeout)
})

t.test('the reason of the signal is thrown where it is a Failure, or the only one', async (t) => {
  const stopped = new Failure('Timeout', 'Commitlet was stopped.')
  const never = new Promise<never>(() => undefined)
  await t.rejects(unlessAborted(never, AbortSignal.abort(stopped), late), stopped)
  await t.rejects(unlessAborted(never, AbortSignal.abort(new RangeError('r'))), new RangeError('r'))
  const { signal } = new AbortController()
  await t.rejects(
    unlessAborted(never, AbortSignal.abort('why'), (cause) => new Failure('Timeout', 'x', { cause })),
    { cause: 'why' },
  )
  t.same(getEventListeners(signal, 'abort'), [])
})

/** One that has fired, and of whose source nobody else knows any more: directly, and by way of another one. */
function firedOnce(combine: (signals: readonly AbortSignal[]) => AbortSignal): readonly AbortSignal[] {
  const { signal } = new AbortController()
  const ending = new AbortController()
  const one = combine([signal, ending.signal])
  const both = [one, combine([signal, one])]
  ending.abort(new Error('ended'))
  return both
}

t.test('what was made of a signal has fired with it, whatever was collected since', async (t) => {
  const fired = firedOnce(anySignal)
  await setImmediate()
  collect()
  for (const signal of fired) t.match(signal, { aborted: true, reason: { message: 'ended' } })
})

t.test('a signal of many is not kept by those that it is made of', async (t) => {
  const { signal } = new AbortController()
  const made = new WeakRef(anySignal([signal, new AbortController().signal]))
  await setImmediate()
  collect()
  t.equal(made.deref(), undefined)
  t.notOk(signal.aborted)
})

t.test('a signal of one is that one', async (t) => {
  const { signal } = new AbortController()
  t.equal(anySignal([signal]), signal)
})
