import t from 'tap'
import { OF_FOLLOWERS, openPacedLines } from '../../functions/arrival/paced-lines.ts'
import type { ObjectRef } from '../../functions/domain/resource/resource.ts'
import { pacedClock } from '../harness/paced-clock.ts'

/** How many followers of each namespace have begun, by a clock that goes on only where all wait. */
function stage() {
  const clock = pacedClock()
  const ending = new AbortController()
  const beginFollowers = openPacedLines(OF_FOLLOWERS, { ...clock, ending: ending.signal })
  const begun: Record<string, number> = {}
  function begin({ namespace }: ObjectRef): boolean {
    begun[namespace] = (begun[namespace] ?? 0) + 1
    return true
  }
  /** A search has found so many. */
  function find(namespace: string, count: number): Promise<unknown> {
    const refs = Array.from({ length: count }, (_, i): ObjectRef => ({
      kind: 'GitCommit',
      namespace,
      name: `${i}`,
    }))
    return beginFollowers(refs, begin, 0)
  }
  return { begun, find, goOn: clock.goOn, end: () => ending.abort() }
}

t.test('followers that are found begin at once where they are few, and very many in a pace', async (t) => {
  const { begun, find, goOn } = stage()
  await find('few', 200)
  t.equal(begun.few, 200)
  void find('many', 10_000)
  await goOn(0)
  t.equal(begun.many, 600, 'and what all share')
  await goOn(10_000)
  t.ok((begun.many ?? 0) >= 1_100 && (begun.many ?? 0) <= 1_160, `then some each second: ${begun.many}`)
})

t.test('one that waits to begin waits once, however often it is found', async (t) => {
  const { begun, find, goOn } = stage()
  for (let times = 0; times < 5; times += 1) void find('many', 700)
  await goOn(60_000)
  t.equal(begun.many, 700 + 200, 'and once more where it had begun')
})

t.test('ten namespaces with very many followers leave another one its own', async (t) => {
  const { begun, find, goOn } = stage()
  const names = Array.from({ length: 10 }, (_, index) => `tenant-${index}`)
  for (const name of names) void find(name, 3_000)
  await goOn(60_000)
  const before = names.map((name) => begun[name] ?? 0)
  await find('other', 200)
  t.equal(begun.other, 200)
  await goOn(120_000)
  const made = names.map((name, index) => (begun[name] ?? 0) - (before[index] ?? 0))
  const all = made.reduce((sum, one) => sum + one, 0)
  t.ok(all <= 100 * 60 + 10, `in a minute of all: ${all}`)
  t.ok(Math.min(...made) >= 300, `at least of each: ${Math.min(...made)}`)
})

t.test('nothing waits for its pace once the pod is ending', async (t) => {
  const { begun, find, goOn, end } = stage()
  const all = find('many', 10_000)
  await goOn(0)
  end()
  await goOn(1_000)
  await all
  t.ok((begun.many ?? 0) <= 610, `${begun.many}`)
})
