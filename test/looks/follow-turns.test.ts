import t from 'tap'
import { takeTurnsToFollow } from '../../functions/looks/follow-turns.ts'
import { pacedClock } from '../harness/paced-clock.ts'

/** How many followers of each namespace were due, by a clock that goes on only where all wait. */
function stage() {
  const clock = pacedClock()
  const { turnToFollow, close } = takeTurnsToFollow(clock)
  const due: Record<string, number> = {}
  /** So many followers of a namespace, whose sources have changed or have not. */
  function look(namespace: string, count: number, changed = true): Promise<readonly unknown[]> {
    const looks = Array.from({ length: count }, (_, i) =>
      turnToFollow({ namespace, uid: `${namespace}-${i}` }, async () => {
        if (changed) due[namespace] = (due[namespace] ?? 0) + 1
        return changed || undefined
      }),
    )
    return Promise.all(looks)
  }
  return { due, look, goOn: clock.goOn, turnToFollow, close }
}

t.test(
  'followers whose sources have changed are attempted at once where they are few, and many in a pace',
  async (t) => {
    const { due, look, goOn } = stage()
    await look('few', 30)
    t.equal(due.few, 30)
    void look('many', 500)
    await goOn(0)
    t.equal(due.many, 90, 'and what all share')
    await goOn(10_000)
    t.ok((due.many ?? 0) >= 140 && (due.many ?? 0) <= 150, `then some each second: ${due.many}`)
  },
)

t.test('ten namespaces of followers leave another one its own', async (t) => {
  const { due, look, goOn } = stage()
  const names = Array.from({ length: 10 }, (_, index) => `tenant-${index}`)
  for (const name of names) void look(name, 3_000)
  await goOn(60_000)
  const before = names.map((name) => due[name] ?? 0)
  await look('other', 30)
  t.equal(due.other, 30)
  await goOn(120_000)
  const made = names.map((name, index) => (due[name] ?? 0) - (before[index] ?? 0))
  const all = made.reduce((sum, one) => sum + one, 0)
  t.ok(all <= 10 * 60 + 10, `in a minute of all: ${all}`)
  t.ok(Math.min(...made) >= 30, `at least of each: ${Math.min(...made)}`)
})

t.test('one that has not changed takes nothing of the pace', async (t) => {
  const { due, look } = stage()
  await look('shop', 5_000, false)
  await look('shop', 30)
  t.equal(due.shop, 30)
})

t.test('one that waits for its turn waits once, however many events name it', async (t) => {
  const { turnToFollow, look, goOn } = stage()
  void look('shop', 90)
  await goOn(0)
  const seen: string[] = []
  const waitAs = (name: string) =>
    turnToFollow({ namespace: 'shop', uid: 'one' }, async () => {
      seen.push(name)
      throw new Error('no answer')
    })
  const all = ['first', 'second', 'third'].map(waitAs)
  const ended = Promise.allSettled(all)
  await goOn(10_000)
  t.strictSame(seen, ['first'])
  t.strictSame(
    (await ended).map(({ status }) => status),
    ['rejected', 'rejected', 'rejected'],
    'whoever sent an event is told',
  )
  await t.rejects(waitAs('later'))
  t.strictSame(seen, ['first', 'later'], 'what comes after the look is looked at')
})

t.test('nobody waits once the pod ends', async (t) => {
  const { due, look, goOn, close } = stage()
  const all = look('shop', 200)
  await goOn(0)
  close()
  await goOn(1_000)
  await all
  t.equal(due.shop, 200)
})
