import t from 'tap'
import { takeBranchTurns } from '../../../functions/git/writer/branch-turns.ts'
import { addressOf } from '../stage.ts'

const MAIN = { repository: addressOf('https://git.example.com/acme/shop.git'), branch: 'main' }

t.test('one has the turn of a branch at a time, in the order in which they came', async (t) => {
  const takeTurn = takeBranchTurns()
  const order: string[] = []
  const first = await takeTurn(MAIN)
  const others = ['second', 'third'].map(async (name) => {
    const pass = await takeTurn(MAIN)
    order.push(name)
    pass()
  })
  ;(await takeTurn({ ...MAIN, branch: 'other' }))()
  t.same(order, [])
  first()
  await Promise.all(others)
  t.same(order, ['second', 'third'])
})

t.test('nobody waits for more than a second, however many are before them', async (t) => {
  const takeTurn = takeBranchTurns()
  const began = performance.now()
  await Promise.all(Array.from({ length: 20 }, () => takeTurn(MAIN)))
  const milliseconds = performance.now() - began
  t.ok(milliseconds > 900 && milliseconds < 10_000, `${milliseconds} ms`)
})
