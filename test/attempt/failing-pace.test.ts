import t from 'tap'
import { paceFailing } from '../../functions/attempt/failing-pace.ts'
import { pacedClock } from '../harness/paced-clock.ts'

/** A pace by a clock that goes on only where all wait, and how many events of each namespace were followed. */
function stage() {
  const clock = pacedClock()
  const { inPace, close } = paceFailing(clock)
  const followed: Record<string, number> = {}
  /** So many events about resources that fail at once, or do not. */
  function events(namespace: string, count: number, fails = true): void {
    for (let index = 0; index < count; index += 1)
      void inPace(namespace, async (failed) => {
        if (fails) failed()
        followed[namespace] = (followed[namespace] ?? 0) + 1
      })
  }
  return { followed, events, goOn: clock.goOn, inPace, close }
}

t.test('first attempts that fail are made in a pace, and those of another namespace at once', async (t) => {
  const { followed, events, goOn } = stage()
  events('few', 1)
  for (let one = 0; one < 5; one += 1) {
    events('many', 1)
    await goOn(0)
  }
  t.equal(followed.many, 5, 'some at once')
  events('many', 500)
  await goOn(0)
  t.equal(followed.many, 15, 'and what all share')
  await goOn(10_000)
  t.ok((followed.many ?? 0) >= 65 && (followed.many ?? 0) <= 76, `then some each second: ${followed.many}`)
  events('other', 9)
  events('few', 9)
  await goOn(10_000)
  t.match(followed, { other: 9, few: 10 })
})

t.test('ten namespaces in which all fails leave another one its own', async (t) => {
  const { followed, events, goOn } = stage()
  const names = Array.from({ length: 10 }, (_, index) => `tenant-${index}`)
  for (let one = 0; one < 20; one += 1) {
    for (const name of names) events(name, 1)
    await goOn(0)
  }
  for (const name of names) events(name, 400)
  await goOn(60_000)
  const before = names.map((name) => followed[name] ?? 0)
  await goOn(120_000)
  const made = names.map((name, index) => (followed[name] ?? 0) - (before[index] ?? 0))
  const all = made.reduce((sum, one) => sum + one, 0)
  t.ok(all <= 15 * 60 + 10, `in a minute of all: ${all}`)
  t.ok(Math.min(...made) >= 60, `at least of each: ${Math.min(...made)}`)
  for (let index = 0; index < 5; index += 1) {
    events('other', 1)
    await goOn(120_000)
  }
  t.equal(followed.other, 5)
})

t.test('what does not fail is never kept waiting where little has failed', async (t) => {
  const { followed, events, goOn } = stage()
  events('busy', 2)
  events('busy', 10_000, false)
  await goOn(0)
  t.equal(followed.busy, 10_002)
})

t.test('what does not fail gives back what it has taken', async (t) => {
  const { followed, events, goOn } = stage()
  for (let one = 0; one < 15; one += 1) {
    events('mended', 1)
    await goOn(0)
  }
  events('mended', 1_000, false)
  await goOn(30_000)
  t.equal(followed.mended, 1_015)
})

t.test('what the work throws is thrown, and counted', async (t) => {
  const { inPace } = stage()
  await t.rejects(
    inPace('shop', async (failed) => {
      failed()
      throw new Error('gone')
    }),
    { message: 'gone' },
  )
})

t.test('a pod that ends keeps nobody waiting', async (t) => {
  const { followed, events, goOn, close } = stage()
  for (let one = 0; one < 60; one += 1) {
    events('many', 1)
    await goOn(0)
  }
  events('many', 500)
  await goOn(1_000)
  t.ok((followed.many ?? 0) < 80, `they wait: ${followed.many}`)
  close()
  await goOn(2_000)
  t.equal(followed.many, 560)
})
