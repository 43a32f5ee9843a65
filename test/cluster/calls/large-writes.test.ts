import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { connectCluster } from '../../../functions/cluster/connect.ts'
import { shareLargeWrites } from '../../../functions/cluster/calls/large-writes.ts'
import type { ApiCall } from '../../../functions/cluster/api-server.ts'
import { envelopeOf } from '../../../functions/domain/resource/envelope.ts'
import type { Status } from '../../../functions/domain/resource/stored-status.ts'

const STATUS: Status = { observedGeneration: 1, phase: 'Progressing' }

/** A share whose time passes where the test says so; its writes end there, too. */
function stage() {
  const time = { passed: 0 }
  const ends: { readonly at: number; readonly resolve: () => void }[] = []
  const wait = (milliseconds: number): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<undefined>()
    ends.push({ at: time.passed + milliseconds, resolve: () => resolve(undefined) })
    return promise
  }
  const share = shareLargeWrites({ elapsed: () => time.passed, wait })
  const began: string[] = []
  const write = (name: string, namespace: string, took: number): Promise<void> =>
    share.write({ kind: 'GitCommit', namespace, name }, () => {
      began.push(`${name} ${time.passed}`)
      return wait(took)
    })
  async function pass(milliseconds: number): Promise<void> {
    const until = time.passed + milliseconds
    for (; time.passed < until; time.passed += 10) {
      for (const end of ends.splice(0)) {
        if (end.at <= time.passed) end.resolve()
        else ends.push(end)
      }
      await turn()
    }
  }
  return { ...share, write, began, pass }
}

t.test('of large resources one is written at once for a namespace, which then rests', async (t) => {
  const { saw, write, began, pass } = stage()
  for (const name of ['one', 'two', 'three']) saw({ kind: 'GitCommit', namespace: 'a', name }, 100_000)
  saw({ kind: 'GitCommit', namespace: 'b', name: 'other' }, 100_000)
  saw({ kind: 'GitCommit', namespace: 'a', name: 'small' }, 5_000)
  for (const name of ['one', 'two', 'three']) void write(name, 'a', 100)
  void write('other', 'b', 100)
  void write('small', 'a', 100)
  await pass(1_000)
  t.same(began, ['small 0', 'one 0', 'other 0', 'two 200', 'three 400'])
})

t.test('of all namespaces two large resources are written at once, in turns and with rests', async (t) => {
  const { saw, write, began, pass } = stage()
  const namespaces = ['a', 'b', 'c', 'd']
  for (const namespace of namespaces) {
    for (const name of ['one', 'two'])
      saw({ kind: 'GitCommit', namespace, name: `${namespace} ${name}` }, 100_000)
    for (const name of ['one', 'two']) void write(`${namespace} ${name}`, namespace, 100)
  }
  await pass(1_000)
  const first = ['a one 0', 'b one 0', 'c one 200', 'd one 200']
  t.same(began, [...first, 'a two 400', 'b two 400', 'c two 600', 'd two 600'])
})

/** Ten namespaces each write all the time, and have done so for some seconds. */
async function busyStage(length: number, took: number) {
  const shared = stage()
  for (let index = 0; index < 10; index += 1) {
    const namespace = `busy-${index}`
    shared.saw({ kind: 'GitCommit', namespace, name: 'one' }, length)
    for (let times = 0; times < 50; times += 1) void shared.write('one', namespace, took)
  }
  await shared.pass(20_000)
  return shared
}

t.test(
  'what has some content is written soon, however many write what takes long all the time',
  async (t) => {
    const { saw, write, began, pass } = await busyStage(300_000, 800)
    for (const name of ['first', 'second']) saw({ kind: 'GitCommit', namespace: 'team', name }, 30_000)
    void write('first', 'team', 10)
    void write('second', 'team', 10)
    await pass(100)
    t.match(began.slice(-2), ['first 20000', 'second 20020'])
  },
)

t.test('who seldom writes what takes long waits for one write of all who do so all the time', async (t) => {
  const { saw, write, began, pass } = await busyStage(300_000, 800)
  saw({ kind: 'GitCommit', namespace: 'team', name: 'first' }, 300_000)
  void write('first', 'team', 200)
  await pass(10_000)
  const waited = Number(began.find((line) => line.startsWith('first '))?.split(' ')[1]) - 20_000
  t.ok(waited < 1_700, `${waited} ms`)
})

t.test('a rest is a second at most, and follows a write that fails as well', async (t) => {
  const { saw, write, began, pass } = stage()
  for (const name of ['one', 'two']) saw({ kind: 'GitCommit', namespace: 'a', name }, 1_000_000)
  void write('one', 'a', 5_000)
  void write('two', 'a', 10)
  await pass(7_000)
  t.same(began, ['one 0', 'two 6000'])
  const share = shareLargeWrites()
  share.saw({ kind: 'GitCommit', namespace: 'a', name: 'one' }, 100_000)
  const fails = (): Promise<void> => Promise.reject(new Error('Down'))
  await t.rejects(share.write({ kind: 'GitCommit', namespace: 'a', name: 'one' }, fails), { message: 'Down' })
})

t.test('a rest is no longer than what the resource takes an API server that does nothing else', async (t) => {
  const { saw, write, began, pass } = stage()
  for (const name of ['one', 'two']) saw({ kind: 'GitCommit', namespace: 'a', name }, 20_480)
  void write('one', 'a', 500)
  void write('two', 'a', 10)
  await pass(1_000)
  t.same(began, ['one 0', 'two 530'])
})

t.test('a resource is large by what the API server has sent of it last', async (t) => {
  const { saw, write, began, pass } = stage()
  const one = { kind: 'GitCommit', namespace: 'a', name: 'one' } as const
  saw(one, 100_000)
  saw(one, 5_000)
  for (let i = 0; i < 2; i += 1) void write('one', 'a', 100)
  await pass(100)
  t.same(began, ['one 0', 'one 0'])
})

t.test('the statuses of resources with many labels are written one after the other', async (t) => {
  const labels = Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`label-${i}`, '']))
  let [atOnce, most] = [0, 0]
  const stored = (path: string): string => {
    const [, namespace = '', name = ''] = /namespaces\/([^/]+)\/gitcommits\/([^/]+)/.exec(path) ?? []
    const metadata = { namespace, name, uid: name, generation: 1, resourceVersion: '1', labels }
    return JSON.stringify({
      apiVersion: 'commitlet.dev/v1',
      kind: 'GitCommit',
      metadata,
      spec: {},
      status: STATUS,
    })
  }
  async function apiServer({ method, path }: ApiCall): Promise<{ status: number; text: string }> {
    if (method === 'PATCH') {
      atOnce += 1
      most = Math.max(most, atOnce)
      await turn()
      atOnce -= 1
    }
    return { status: 200, text: stored(path) }
  }
  const cluster = connectCluster(apiServer)
  const found = ['one', 'two', 'three'].map((name) =>
    cluster.readResource({ kind: 'GitCommit', namespace: 'team', name }),
  )
  const resources = (await Promise.all(found)).map(envelopeOf)
  // A rest keeps no process alive.
  const alive = setInterval(() => undefined, 1_000)
  await Promise.all(resources.map((resource) => cluster.patchStatus(resource, STATUS)))
  clearInterval(alive)
  t.equal(most, 1)
})
