import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import type { ProcessorWait } from '../../../functions/git/process/processor-wait.ts'
import { paceGits, type BeginGit } from '../../../functions/git/process/young-gits.ts'
import { waitFor } from '../../harness/wait.ts'

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

function start(begin: BeginGit, namespaces: readonly string[]): Begun {
  const begun: string[] = []
  const ends: (() => void)[] = []
  for (const namespace of namespaces)
    void begin(namespace, signal).then((end) => {
      begun.push(namespace)
      ends.push(end)
    })
  return { begun, ends }
}

t.test('few gits begin at once, and namespaces that wait get equal parts', async (t) => {
  let now = 0
  const begin = paceGits({ elapsed: () => now, wait: thread(true).wait })
  const { begun, ends } = start(begin, ['a', 'a', 'a', 'b', 'b', 'c'])
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
  const begin = paceGits({ elapsed: () => now, wait })
  const { begun, ends } = start(begin, ['a', 'a', 'b', 'a', 'c', 'd'])
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
  const begin = paceGits({ elapsed: () => now, wait })
  const ends = [await begin('slow', signal)]
  for (let i = 0; i < 4; i += 1) {
    const end = await begin('quick', signal)
    now += 50
    end()
  }
  now = 500
  await looks(2)
  ends.push(await begin('one', signal), await begin('other', signal))
  const { begun, ends: later } = start(begin, ['quick', 'slow'])
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
  const begin = paceGits({ elapsed: () => 0, wait })
  const { begun, ends } = start(begin, Array<string>(10).fill('a'))
  await looks(6)
  t.equal(begun.length, 10)
  for (const end of ends) end()
})

t.test('whoever waits for a git to begin may give up', async (t) => {
  const begin = paceGits({ elapsed: () => 0, wait: thread(true).wait })
  const { ends } = start(begin, ['a', 'a'])
  const given = new AbortController()
  const waiting = begin('a', given.signal)
  given.abort(new Error('given up'))
  await t.rejects(waiting, { message: 'given up' })
  for (const end of ends) end()
})
