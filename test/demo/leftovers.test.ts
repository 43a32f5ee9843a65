import t from 'tap'
import { makeLeftovers } from '../../demo/leftovers.ts'

t.test('what was opened last is closed first, and a failure leaves nothing open', async (t) => {
  const closed: string[] = []
  const leftovers = makeLeftovers()
  for (const name of ['folder', 'server', 'function']) {
    await leftovers.hold(Promise.resolve(name), async (opened) => {
      closed.push(opened)
      if (opened === 'server') throw new Error('It does not want to.')
    })
  }
  await t.rejects(leftovers.hold(Promise.reject(new Error('No port.')), async () => closed.push('never')))
  await leftovers.clear(1_000)
  t.same(closed, ['function', 'server', 'folder'])
})

t.test('what is still being opened is waited for', async (t) => {
  const opening = Promise.withResolvers<string>()
  const leftovers = makeLeftovers()
  const closed: string[] = []
  leftovers.hold(opening.promise, async (opened) => closed.push(opened))
  const cleared = leftovers.clear(1_000)
  opening.resolve('server')
  await cleared
  t.same(closed, ['server'])
})

t.test('what is opened after the clearing is closed at once', async (t) => {
  const leftovers = makeLeftovers()
  await leftovers.clear(1_000)
  const closed = Promise.withResolvers<string>()
  leftovers.hold(Promise.resolve('server'), async (opened) => closed.resolve(opened))
  t.equal(await closed.promise, 'server')
})

t.test('something that never closes does not hold up the end for longer than the deadline', async (t) => {
  const leftovers = makeLeftovers()
  await leftovers.hold(Promise.resolve('server'), () => new Promise(() => undefined))
  await t.resolves(leftovers.clear(10))
})
