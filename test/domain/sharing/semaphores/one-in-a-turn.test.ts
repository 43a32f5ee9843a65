import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { oneInATurn } from '../../../../functions/domain/sharing/semaphores/one-in-a-turn.ts'

t.test('of what is handed in at the same moment, one work is done in a turn, in order', async (t) => {
  const inOneTurn = oneInATurn(nextTurn)
  let turn = 0
  function count(): void {
    turn += 1
    if (turn < 20) setImmediate(count)
  }
  count()
  const done: [string, number][] = []
  await Promise.all(['a', 'b', 'c'].map((name) => inOneTurn(() => done.push([name, turn]))))
  t.same(
    done.map(([name]) => name),
    ['a', 'b', 'c'],
  )
  t.equal(new Set(done.map(([, at]) => at)).size, 3)
})

t.test('it throws what the work throws, and the next one is done', async (t) => {
  const inOneTurn = oneInATurn(nextTurn)
  const fails = inOneTurn(() => {
    throw new Error('no')
  })
  const next = inOneTurn(() => 'yes')
  await t.rejects(fails, { message: 'no' })
  t.equal(await next, 'yes')
})
