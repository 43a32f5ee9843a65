import { mock } from 'node:test'
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

/** Lets follow what is due by now. */
async function settle(): Promise<void> {
  for (let i = 0; i < 5; i += 1) await new Promise(setImmediate)
}

t.test('a turn that is not passed keeps the next ones for two seconds each, ten at most', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const takeTurn = takeBranchTurns()
  let had = 0
  for (let i = 0; i < 20; i += 1) void takeTurn(MAIN).then(() => (had += 1))
  const counts: number[] = []
  for (let seconds = 0; seconds < 11; seconds += 1) {
    await settle()
    counts.push(had)
    mock.timers.tick(1_000)
  }
  t.same(counts, [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 20])
})
