import { mock } from 'node:test'
import t from 'tap'
import { atMost } from '../../../functions/attempt/turns/amounts.ts'
import { makeBudget } from '../../../functions/attempt/turns/budget.ts'
import { divide } from '../../../functions/attempt/turns/shares.ts'
import type { Failure } from '../../../functions/domain/failure.ts'
import { openLaneStage } from './lane-stage.ts'

const MIB = 1024 * 1024

t.beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }))
t.afterEach(() => mock.timers.reset())

/** A lane of four shares, of which those who gave way have one. */
function stage({ atHost = 4, ownMiB = Infinity, ownMs = 10_000 } = {}) {
  return openLaneStage({
    held: {
      total: atMost(4),
      perNamespace: { ...atMost(2), memoryMiB: ownMiB },
      perHost: atMost(atHost),
      ofSlow: atMost(1),
    },
    waiting: { total: 6, perNamespace: 5, perHost: 6 },
    ownMs,
  })
}

t.test('the namespace that holds most gives way to one that has waited for a second', async (t) => {
  const { events, take, after } = stage()
  await take('a/1')
  await after(500)
  for (const name of ['b/1', 'b/2', 'c/1']) await take(name)
  await after(15_000)
  const waiting = take('honest/1')
  await after(750)
  t.equal(events.length, 4, 'nobody has waited for long')
  await after(500)
  await waiting
  t.strictSame(events.slice(4), ['b/1 gave way: Timeout', 'honest/1'])
})

t.test('no share gives way before it has been held for ten seconds, nor one that cannot end', async (t) => {
  const { events, take, after } = stage()
  for (const name of ['a/1', 'a/2']) await take(name, { canEnd: false })
  for (const name of ['b/1', 'b/2']) await take(name)
  const waiting = take('honest/1')
  await after(9_750)
  t.equal(events.length, 4)
  await after(500)
  await waiting
  t.strictSame(events.slice(4), ['b/1 gave way: Timeout', 'honest/1'])
})

t.test('large shares are held for longer before they give way', async (t) => {
  const { ownMs = 0 } = divide({ memoryMiB: 2048, diskMiB: 1024, diskIsMemory: true }, 256).large
  t.equal(ownMs, 30_000)
  const { events, take, after } = stage({ ownMs })
  for (const name of ['a/1', 'b/1', 'c/1', 'd/1']) await take(name)
  const waiting = take('honest/1')
  await after(29_750)
  t.equal(events.length, 4)
  await after(500)
  await waiting
  t.strictSame(events.slice(4), ['a/1 gave way: Timeout', 'honest/1'])
})

t.test('large shares give way to edits for which they and sessions leave no memory', async (t) => {
  const { stock, ...shares } = divide({ memoryMiB: 2048, diskMiB: 1024, diskIsMemory: true }, 256)
  let now = 0
  const budget = makeBudget(stock, { now: () => now })
  const [edits, large, sessions] = [shares.edits, shares.large, shares.sessions].map(budget.open)
  const ended: string[] = []
  for (let i = 0; i < 50; i += 1) {
    const holder = { namespace: `a${i % 10}`, host: `host-${i % 10}`, resource: `session ${i}` }
    void sessions?.acquire({ memoryMiB: 13, diskMiB: 4 }, holder)
  }
  for (const namespace of ['a0', 'a1']) {
    const giveWay = (): void => {
      ended.push(namespace)
      void held?.then((hold) => hold?.release())
    }
    const held = large?.acquire(shares.largeCost, {
      namespace,
      host: namespace,
      resource: namespace,
      giveWay,
    })
  }
  const edit = { namespace: 'honest', host: '', resource: 'edit', admitted: true }
  void edits?.acquire({ memoryMiB: shares.editMiB, diskMiB: 0 }, edit)
  for (; now < 35_000 && edits?.figures().running === 0; now += 250) {
    mock.timers.tick(250)
    for (let times = 0; times < 20; times += 1) await Promise.resolve()
  }
  t.equal(edits?.figures().running, 1)
  t.strictSame(ended, ['a0'])
})

t.test('who holds something already waits for as long as it takes', async (t) => {
  const { events, take, after } = stage()
  for (const name of ['a/1', 'a/2', 'b/1', 'c/1']) await take(name)
  const waiting = take('b/2')
  await after(60_000)
  t.equal(events.length, 4)
  const honest = take('honest/1')
  await after(1_250)
  await honest
  t.strictSame(events.slice(4), ['a/1 gave way: Timeout', 'honest/1'])
  void waiting
})

t.test('where the shares at one host are all held, one of these gives way', async (t) => {
  const { events, take, after } = stage({ atHost: 2 })
  await take('a/1', { host: 'other' })
  await take('a/2', { host: 'other' })
  await take('b/1')
  await take('c/1')
  const waiting = take('honest/1')
  await after(12_000)
  await waiting
  t.strictSame(events.slice(4), ['b/1 gave way: Timeout', 'honest/1'])
})

t.test(
  'nobody gives way to a namespace that waits because of what it keeps until it is pushed',
  async (t) => {
    const { events, take, after } = stage({ ownMiB: 2 })
    for (const name of ['a/1', 'a/2']) (await take(name))?.park(MIB)
    await take('honest/1')
    void take('a/3')
    await after(30_000)
    t.strictSame(events, ['a/1', 'a/2', 'honest/1'])
  },
)

t.test('nobody gives way to a namespace that keeps more', async (t) => {
  const { events, take, after } = stage()
  ;(await take('a/1'))?.park(2 * MIB)
  ;(await take('b/1'))?.park(MIB / 2)
  for (const name of ['c/1', 'd/1', 'e/1', 'f/1']) await take(name)
  void take('a/2')
  await after(30_000)
  t.equal(events.length, 6)
  void take('b/2')
  await after(1_250)
  t.strictSame(events.slice(6), ['c/1 gave way: Timeout', 'b/2'])
})

t.test('namespaces that had to give way have a part together, for ten minutes', async (t) => {
  const { events, take, after } = stage()
  for (const name of ['a/1', 'a/2', 'b/1', 'b/2']) await take(name)
  const [first, second] = [take('honest/1'), take('other/1')]
  await after(11_500)
  await Promise.all([first, second])
  t.strictSame(events.slice(4), ['a/1 gave way: Timeout', 'b/1 gave way: Timeout', 'honest/1', 'other/1'])
  const slow = take('a/3')
  ;(await first)?.release()
  await after(9 * 60_000)
  t.equal(events.length, 8, 'a and b hold more than their part')
  await after(60_000)
  ;(await second)?.release()
  await slow
  t.equal(events.at(-1), 'a/3')
})

t.test('a newcomer takes the last place to wait of the namespace that has most', async (t) => {
  const { take } = stage()
  for (const name of ['a/1', 'a/2', 'b/1', 'b/2']) await take(name)
  const refused: string[] = []
  async function wait(...names: readonly string[]): Promise<void> {
    for (const name of names)
      take(name).catch((error: unknown) => refused.push(`${name}: ${(error as Failure).reason}`))
    await new Promise(setImmediate)
  }
  await wait('a/3', 'a/4', 'a/5', 'b/3', 'b/4', 'b/5')
  await wait('honest/1')
  t.strictSame(refused.splice(0), ['b/5: Conflict'])
  await wait('other/1')
  t.strictSame(refused.splice(0), ['a/5: Conflict'])
  await wait('a/6')
  t.strictSame(refused.splice(0), ['a/6: Conflict'], 'a would have as many as anybody')
  await wait('c/1', 'd/1')
  t.strictSame(refused.splice(0), ['b/4: Conflict', 'a/4: Conflict'])
  await wait('late/1')
  t.strictSame(refused, ['late/1: Conflict'], 'each has one')
})

t.test('of namespaces that hold nothing, one that has held for less time lately is next', async (t) => {
  const { events, take, after } = stage()
  const first = await take('a/1')
  for (const name of ['b/1', 'c/1', 'd/1']) await take(name)
  void take('a/2')
  await after(9_000)
  void take('honest/1')
  first?.release()
  await after(250)
  t.strictSame(events.slice(4), ['honest/1'])
})
