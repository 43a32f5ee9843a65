import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { makeFairSemaphore } from '../../../../functions/domain/sharing/semaphores/fair-semaphore.ts'

t.test('so many works run at once, in turns of their owners, also after one that has failed', async (t) => {
  const run = makeFairSemaphore(2, () => 0)
  const begun: string[] = []
  const ends: PromiseWithResolvers<string>[] = []
  const work = (name: string) => (): Promise<string> => {
    const end = Promise.withResolvers<string>()
    begun.push(name)
    ends.push(end)
    return end.promise
  }
  const all = ['a1', 'a2', 'a3', 'a4'].map((name) => run('a', work(name)))
  all.push(run('b', work('b1')))
  await setImmediate()
  t.same(begun, ['a1', 'a2'])
  ends[0]?.resolve('done')
  t.equal(await all[0], 'done')
  await setImmediate()
  t.same(begun, ['a1', 'a2', 'a3'])
  ends[1]?.reject(new Error('failed'))
  await t.rejects(all[1]?.then(() => undefined) ?? Promise.resolve(), { message: 'failed' })
  await setImmediate()
  t.same(begun, ['a1', 'a2', 'a3', 'b1'])
  for (const { resolve } of ends) resolve('done')
  await setImmediate()
  for (const { resolve } of ends) resolve('done')
  t.equal(await all[3], 'done')
})

t.test('work that throws synchronously is work that fails', async (t) => {
  const run = makeFairSemaphore(1, () => 0)
  const failing = (): Promise<string> => {
    throw new Error('at once')
  }
  await t.rejects(run('a', failing), { message: 'at once' })
  t.equal(await run('a', () => Promise.resolve('done')), 'done')
})
