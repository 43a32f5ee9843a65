import t from 'tap'
import { watchMemory } from '../../../functions/git/process/memory-watch.ts'
import { until } from '../stage.ts'

t.test(
  'where memory is short, the namespace of which sessions may hold most gives first, its last one',
  async (t) => {
    const memory = { free: 100 }
    const ended: string[] = []
    const watch = watchMemory({ freeMiB: () => memory.free, leastMiB: 64 })
    const begin = (namespace: string, name: string): (() => void) =>
      watch({
        namespace,
        mayHoldMiB: () => 40,
        end() {
          ended.push(name)
          memory.free += 10
        },
      })
    const releases = [
      begin('shop', 'shop 1'),
      ...[1, 2, 3, 4].map((count) => begin('hog', `hog ${count}`)),
      begin('other', 'other 1'),
    ]
    memory.free = 40
    await until('enough memory', async () => memory.free >= 64)
    t.same(ended, ['hog 4', 'hog 3', 'hog 2'])
    memory.free = 0
    await until('the end of all', async () => ended.length === 6)
    t.same(ended.slice(3).sort(), ['hog 1', 'other 1', 'shop 1'])
    for (const release of releases) release()
  },
)

t.test('one that may hold much gives before several that may hold little, and they go on', async (t) => {
  const memory = { free: 40 }
  const ended: string[] = []
  const watch = watchMemory({ freeMiB: () => memory.free, leastMiB: 64 })
  const begin = (namespace: string, mayHold: number): (() => void) =>
    watch({
      namespace,
      mayHoldMiB: () => mayHold,
      end() {
        ended.push(namespace)
        memory.free += 100
      },
    })
  const releases = [begin('shop', 44), begin('shop', 44), begin('hog', 432)]
  await until('enough memory', async () => memory.free >= 64)
  t.same(ended, ['hog'])
  for (const release of releases) release()
})

t.test('a session that has ended is not ended again, and while there is enough none is', async (t) => {
  let looks = 0
  let free = 100
  function freeMiB(): number {
    looks += 1
    return free
  }
  const ended: string[] = []
  const watch = watchMemory({ freeMiB, leastMiB: 64 })
  const first = watch({ namespace: 'shop', mayHoldMiB: () => 40, end: () => ended.push('first') })
  const second = watch({ namespace: 'shop', mayHoldMiB: () => 40, end: () => ended.push('second') })
  await until('a look', async () => looks > 0)
  t.same(ended, [])
  second()
  free = 0
  await until('the end of the first', async () => ended.length > 0)
  t.same(ended, ['first'])
  first()
})
