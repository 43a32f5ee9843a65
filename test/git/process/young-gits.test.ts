import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import type { ProcessorWait } from '../../../functions/git/process/processor-wait.ts'
import { paceGits, type BeginGits } from '../../../functions/git/process/young-gits.ts'
import { waitFor } from '../../harness/wait.ts'
import { outcomeOf } from '../stage.ts'

const { signal } = new AbortController()

/** A thread that always waits for a processor, or never does. */
function thread(isWaiting: boolean): { wait: ProcessorWait; looks: (count: number) => Promise<unknown> } {
  let looked = 0
  return {
    wait: { look: () => (looked += 1), isLong: () => isWaiting, reset: () => undefined },
    looks(count) {
      const until = looked + count
      return waitFor(`${count} looks`, () => looked >= until || undefined, 20_000)
    },
  }
}

interface Begun {
  readonly begun: string[]
  readonly ends: (() => void)[]
}

function start(open: BeginGits, namespaces: readonly string[]): Begun {
  const begun: string[] = []
  const ends: (() => void)[] = []
  for (const namespace of namespaces)
    void open(namespace, signal).then(({ close }) => {
      begun.push(namespace)
      ends.push(close)
    })
  return { begun, ends }
}

t.test('few gits begin at once, and namespaces that wait get equal parts', async (t) => {
  let now = 0
  const open = paceGits({ elapsed: () => now, wait: thread(true).wait })
  const { begun, ends } = start(open, ['a', 'a', 'a', 'b', 'b', 'c'])
  await turn()
  t.same(begun, ['a', 'a', 'b'], 'two, and one of a namespace that has none')
  now = 90
  ends.shift()?.()
  ends.shift()?.()
  await turn()
  t.same(begun.slice(3), ['b', 'c'], 'not of the one that has taken most')
  while (ends.length > 0) {
    ends.shift()?.()
    await turn()
  }
  t.same(begun.toSorted(), ['a', 'a', 'a', 'b', 'b', 'c'])
})

t.test('gits of servers that never answer leave their places to others', async (t) => {
  let now = 0
  const { wait, looks } = thread(true)
  const open = paceGits({ elapsed: () => now, wait })
  const { begun, ends } = start(open, ['a', 'a', 'b', 'a', 'c', 'd'])
  await turn()
  now = 499
  await looks(2)
  t.same(begun, ['a', 'a', 'b'])
  now = 500
  await looks(2)
  t.same(begun, ['a', 'a', 'b', 'c', 'd'], 'after half a second')
  now = 1_000
  await looks(2)
  t.same(begun, ['a', 'a', 'b', 'c', 'd', 'a'])
  await turn()
  for (const end of ends) end()
})

t.test('of the time for which a git waits for its server, 100 ms count', async (t) => {
  let now = 0
  const { wait, looks } = thread(true)
  const open = paceGits({ elapsed: () => now, wait })
  const ends = [(await open('slow', signal)).close]
  for (let i = 0; i < 4; i += 1) {
    const quick = await open('quick', signal)
    now += 50
    quick.close()
  }
  now = 500
  await looks(2)
  ends.push((await open('one', signal)).close, (await open('other', signal)).close)
  const { begun, ends: later } = start(open, ['quick', 'slow'])
  await turn()
  t.same(begun, [])
  ends.pop()?.()
  await turn()
  t.same(begun, ['slow'])
  for (const end of ends) end()
  await turn()
  for (const end of later) end()
})

t.test('while the thread waits for no processor, many begin whatever they wait for', async (t) => {
  const { wait, looks } = thread(false)
  const open = paceGits({ wait })
  const { begun, ends } = start(open, Array<string>(10).fill('a'))
  await looks(12)
  t.equal(begun.length, 10)
  for (const end of ends) end()
})

t.test('whoever waits for a git to begin may give up', async (t) => {
  const open = paceGits({ elapsed: () => 0, wait: thread(true).wait })
  const { ends } = start(open, ['a', 'a'])
  const given = new AbortController()
  const waiting = open('a', given.signal)
  given.abort(new Error('given up'))
  t.match(await outcomeOf(waiting), { reason: 'Timeout' })
  for (const end of ends) end()
})

t.test(
  'a session that has begun goes on before another one of its namespace, and the older one first',
  async (t) => {
    const open = paceGits({ elapsed: () => 0, wait: thread(true).wait })
    const one = await open('a', signal)
    const endOne = await one.begin()
    const two = await open('a', signal)
    const endTwo = await two.begin()
    const begun: string[] = []
    const note = (name: string) => (end: () => void) => {
      begun.push(name)
      end()
    }
    const all = [
      open('a', signal).then((late) => note('another')(late.close)),
      one.begin().then(note('one')),
      two.begin().then(note('two')),
    ]
    endOne()
    await Promise.all(all)
    t.same(begun, ['one', 'two', 'another'])
    endTwo()
  },
)

t.test('a session that begins nothing gives its place back', async (t) => {
  const open = paceGits({ elapsed: () => 0, wait: thread(true).wait })
  const sessions = [await open('a', signal), await open('a', signal)]
  const { begun, ends } = start(open, ['a'])
  await turn()
  t.same(begun, [])
  for (const { close } of sessions) close()
  await turn()
  t.same(begun, ['a'])
  for (const end of ends) end()
})
