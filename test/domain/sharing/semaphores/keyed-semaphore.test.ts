import t from 'tap'
import { makeKeyedSemaphore } from '../../../../functions/domain/sharing/semaphores/keyed-semaphore.ts'

/** Work that ends on request, and records when it begins. */
function workNamed(name: string, began: string[]) {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const work = (): Promise<string> => {
    began.push(name)
    return promise
  }
  return { work, end: () => resolve(name), fail: () => reject(new Error(name)) }
}

/** Lets everything that is not waiting run. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

t.test('work under one key runs in sequence, under another at once', async (t) => {
  const run = makeKeyedSemaphore(1)
  const began: string[] = []
  const [first, second, third] = ['first', 'second', 'third'].map((name) => workNamed(name, began))
  const other = workNamed('other', began)
  const results = [run('key', first!.work), run('key', second!.work), run('key', third!.work)]
  const beside = run('other', other.work)
  await settled()
  t.strictSame(began, ['first', 'other'])
  first!.end()
  await settled()
  t.strictSame(began, ['first', 'other', 'second'])
  for (const each of [second!, third!, other]) each.end()
  t.strictSame(await Promise.all([...results, beside]), ['first', 'second', 'third', 'other'])
})

t.test('as many as may run do so at once, and the next begins when one of them ends', async (t) => {
  const run = makeKeyedSemaphore(2)
  const began: string[] = []
  const works = ['first', 'second', 'third', 'fourth'].map((name) => workNamed(name, began))
  const results = works.map(({ work }) => run('key', work))
  await settled()
  t.strictSame(began, ['first', 'second'])
  works[1]!.end()
  await settled()
  t.strictSame(began, ['first', 'second', 'third'])
  for (const each of works) each.end()
  t.strictSame(await Promise.all(results), ['first', 'second', 'third', 'fourth'])
})

t.test('work that fails does not affect other work', async (t) => {
  const run = makeKeyedSemaphore(1)
  const began: string[] = []
  const [first, second] = ['first', 'second'].map((name) => workNamed(name, began))
  const results = [run('key', first!.work), run('key', second!.work)]
  const failed = t.rejects(results[0]!, { message: 'first' })
  first!.fail()
  second!.end()
  await failed
  t.equal(await results[1], 'second')
})

t.test('work that throws synchronously is work that fails', async (t) => {
  const run = makeKeyedSemaphore(1)
  const thrown = (): Promise<never> => {
    throw new Error('at once')
  }
  await t.rejects(run('key', thrown), { message: 'at once' })
  t.equal(await run('key', () => Promise.resolve('next')), 'next')
})

t.test('where nobody waits, work begins before the call returns', async (t) => {
  const run = makeKeyedSemaphore(1)
  const began: string[] = []
  const [first, second] = ['first', 'second'].map((name) => workNamed(name, began))
  const results = [run('key', first!.work), run('key', second!.work)]
  t.strictSame(began, ['first'])
  first!.end()
  second!.end()
  t.strictSame(await Promise.all(results), ['first', 'second'])
})
