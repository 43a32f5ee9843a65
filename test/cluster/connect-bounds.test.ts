import t from 'tap'
import { Failure } from '../../functions/domain/failure.ts'
import { connectCluster } from '../../functions/cluster/connect.ts'
import { cpuTime } from '../harness/cpu-time.ts'
import { allowedMs } from '../harness/growth.ts'

function secretOf(keys: number): string {
  const data = Object.fromEntries(Array.from({ length: keys }, (_, i) => [`key-${i}`, '']))
  return JSON.stringify({ kind: 'Secret', metadata: { namespace: 'shop', name: 'git' }, data })
}

t.test('a Secret of 100,000 keys is refused before it is parsed, and one of 1,000 is read', async (t) => {
  const read = (text: string) =>
    connectCluster(() => Promise.resolve({ status: 200, text })).readSecret('shop', 'git')
  const large = secretOf(100_000)
  const start = cpuTime()
  await t.rejects(read(large), {
    name: 'Failure',
    reason: 'CredentialsInvalid',
    message: /^The Secret shop\/git has more than 10,000 keys/,
  })
  const took = cpuTime() - start
  t.ok(took < allowedMs(10), `${took} ms`)
  t.equal((await read(secretOf(1_000))).data.size, 1_000)
})

t.test('an answer with the kinds of a group is read within a budget, whatever an API says', async (t) => {
  const LARGEST = 1024 * 1024
  const discover = (text: string) =>
    connectCluster(({ most = Infinity }) => {
      const tooLarge = new Failure('NotSupported', 'The API server answered with more.')
      return text.length > most ? Promise.reject(tooLarge) : Promise.resolve({ status: 200, text })
    }).discover('things.example.com/v1', 'Thing')
  const listOf = (element: unknown, length: number): string => {
    const text = JSON.stringify(element)
    return `{"resources":[${Array(Math.floor(length / (text.length + 1)) - 20)
      .fill(text)
      .join()}]}`
  }
  const kind = { name: 'things', kind: 'Thing', namespaced: true }
  for (const [title, element] of [
    ['lists', []],
    ['objects', {}],
    ['kinds', kind],
  ] as const)
    for (const length of [LARGEST, 31 * LARGEST]) {
      const text = listOf(element, length)
      const start = cpuTime()
      await t.rejects(
        discover(text),
        { name: 'Failure', reason: 'NotSupported', message: /things\.example\.com\/v1 lists more kinds/ },
        title,
      )
      const took = cpuTime() - start
      t.ok(took < allowedMs(30), `${took} ms for ${length} characters of ${title}`)
    }
  const verbs = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch']
  const many = Array.from({ length: 1_500 }, (_, i) => ({
    ...kind,
    kind: `Kind${i}`,
    verbs,
    shortNames: ['a'],
  }))
  t.same(await discover(JSON.stringify({ resources: [...many, kind] })), {
    plural: 'things',
    namespaced: true,
  })
})

t.test(
  'an object that answers a look with more than metadata can be is there, and no more of it is taken',
  async (t) => {
    const named = { apiVersion: 'things.example.com/v1', kind: 'Thing', namespace: 'shop', name: 'one' }
    const served = { plural: 'things', namespaced: true }
    const asked: (number | undefined)[] = []
    const cluster = connectCluster(({ most }) => {
      asked.push(most)
      return Promise.reject(new Failure('NotSupported', 'The API server answered with more.'))
    })
    t.equal(await cluster.readVersion(named, served), '/')
    t.strictSame(asked, [1024 * 1024])
  },
)

t.test(
  'of large resources that arrive at the same moment, one is parsed in a turn of the event loop',
  async (t) => {
    let isOver = false
    let turn = 0
    const count = (): void => {
      turn += 1
      if (!isOver) setImmediate(count)
    }
    count()
    async function turnsOf(message: string): Promise<number> {
      const text = JSON.stringify({ metadata: { namespace: 'shop', name: 'a' }, spec: { message } })
      const cluster = connectCluster(() => Promise.resolve({ status: 200, text }))
      const reads = Array.from({ length: 8 }, async () => {
        t.match(await cluster.readResource({ kind: 'GitCommit', namespace: 'shop', name: 'a' }), {
          spec: { message },
        })
        return turn
      })
      return new Set(await Promise.all(reads)).size
    }
    t.equal(await turnsOf('x'.repeat(100_000)), 8)
    t.equal(await turnsOf('x'), 1, 'small ones wait for nothing')
    isOver = true
  },
)
