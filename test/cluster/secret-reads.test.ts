import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { connectCluster } from '../../functions/cluster/connect.ts'
import { OF_GROUP } from '../../functions/cluster/calls/large-reads.ts'
import { OF_NAMESPACE } from '../../functions/cluster/secret-reads.ts'
import type { Secret, SecretReader } from '../../functions/cluster/cluster.ts'
import { Failure } from '../../functions/domain/failure.ts'

const READER: SecretReader = {
  signal: new AbortController().signal,
  inTurn: async (work) => work(),
}

const LARGE = 'aaaa'.repeat(20_000)
const CLOCK = { elapsed: () => 0, wait: async () => undefined }

/**
 * A cluster that sends a Secret when `answer` is called, of the namespaces `busy` a large one; `open` has the paths of the calls
 * that wait.
 */
function stage() {
  const open = new Map<string, () => void>()
  const cluster = connectCluster(
    ({ path, signal }) =>
      new Promise((resolve, reject) => {
        const [, namespace, , name] = path.split('/').slice(3)
        const text = JSON.stringify({
          kind: 'Secret',
          metadata: { namespace, name },
          data: { token: 'czNjcjN0', ...(namespace?.startsWith('busy') === true ? { rest: LARGE } : {}) },
        })
        open.set(path, () => resolve({ status: 200, text }))
        signal?.addEventListener('abort', () => {
          open.delete(path)
          reject(new Failure('Timeout', 'The call was ended.'))
        })
      }),
    CLOCK,
  )
  let count = 0
  return {
    open,
    read: (namespace: string, by?: SecretReader, name = `n${count++}`): Promise<Secret> =>
      cluster.readSecret(namespace, name, by),
    answer: async (): Promise<void> => {
      for (const [path, send] of open) {
        open.delete(path)
        send()
      }
      await setImmediate()
    },
  }
}

t.test('of one namespace two Secrets are read at once, and another namespace does not wait', async (t) => {
  const { open, read, answer } = stage()
  const loud = Array.from({ length: 3 * OF_NAMESPACE }, () => read('loud', READER))
  await setImmediate()
  t.equal(open.size, OF_NAMESPACE)
  const quiet = read('quiet', READER)
  await setImmediate()
  t.equal(open.size, OF_NAMESPACE + 1)
  await answer()
  t.match(await quiet, { name: `n${3 * OF_NAMESPACE}` })
  for (let times = 0; times < 2; times += 1) await answer()
  t.equal((await Promise.all(loud)).length, 3 * OF_NAMESPACE)
})

t.test(
  'a Secret is parsed in the turn of its namespace, and the next one is not asked for before',
  async (t) => {
    const { open, read, answer } = stage()
    const turns: (() => void)[] = []
    const inTurn: SecretReader['inTurn'] = async (work) => {
      await new Promise<void>((resolve) => turns.push(resolve))
      return work()
    }
    const [first, ...others] = Array.from({ length: OF_NAMESPACE + 1 }, () =>
      read('loud', { ...READER, inTurn }),
    )
    await setImmediate()
    await answer()
    t.equal(turns.length, OF_NAMESPACE, 'what has arrived waits to be parsed')
    t.equal(open.size, 0)
    turns.shift()?.()
    t.equal(Buffer.from((await first)?.data.get('token') ?? []).toString(), 's3cr3t')
    await setImmediate()
    t.equal(open.size, 1)
    await answer()
    for (const turn of turns) turn()
    await Promise.all(others)
  },
)

t.test('what ends its turn is thrown, and gives the place back', async (t) => {
  const { open, read, answer } = stage()
  const inTurn = (): Promise<never> => Promise.reject(new Failure('Timeout', 'No turn.'))
  const reads = Array.from({ length: OF_NAMESPACE }, () => read('loud', { ...READER, inTurn }))
  const ends = Promise.allSettled(reads)
  await setImmediate()
  await answer()
  for (const end of await ends) t.match(end, { status: 'rejected', reason: { message: 'No turn.' } })
  void read('loud', READER)
  await setImmediate()
  t.equal(open.size, 1)
})

t.test('reads end with the signal: those that wait, and those that are under way', async (t) => {
  const { open, read } = stage()
  const over = new AbortController()
  const reads = Array.from({ length: 3 * OF_NAMESPACE }, () =>
    read('loud', { ...READER, signal: over.signal }),
  )
  const ends = Promise.allSettled(reads)
  await setImmediate()
  over.abort()
  for (const end of await ends)
    t.match(end, { status: 'rejected', reason: { name: 'Failure', reason: 'Timeout' } })
  t.equal(open.size, 0)
  void read('loud', READER)
  await setImmediate()
  t.equal(open.size, 1, 'the places are free again')
})

t.test('of all namespaces a few large Secrets are read at once, and others do not wait', async (t) => {
  const { open, read, answer } = stage()
  const busy = Array.from({ length: 10 }, (_, index) => `busy-${index}`)
  const readAll = (): Promise<Secret>[] =>
    busy.flatMap((namespace) => ['one', 'two'].map((name) => read(namespace, READER, name)))
  async function answerAll(reads: readonly Promise<Secret>[]): Promise<void> {
    for (let times = 0; times < reads.length; times += 1) await answer()
    await Promise.all(reads)
  }
  await answerAll([...readAll(), read('shop', READER, 'git')])
  const again = readAll()
  await setImmediate()
  t.equal(open.size, OF_GROUP, 'what was large when it was read last')
  const own = read('shop', READER, 'git')
  const others = ['sun', 'moon'].map((namespace) => read(namespace, READER))
  await setImmediate()
  t.equal(open.size, OF_GROUP + 3, 'what was small, and what was not read yet')
  const next = read('busy-0', READER, 'three')
  await setImmediate()
  t.equal(open.size, OF_GROUP + 3, 'what is likely to be large')
  await answerAll([...again, own, ...others, next])
})

t.test('whoever reads for themselves has no share', async (t) => {
  const { open, read } = stage()
  for (let i = 0; i < 2 * OF_NAMESPACE; i += 1) void read('shop')
  await setImmediate()
  t.equal(open.size, 2 * OF_NAMESPACE)
})
