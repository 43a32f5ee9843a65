import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import type { ApiServer } from '../../functions/cluster/api-server.ts'
import { connectCluster } from '../../functions/cluster/connect.ts'
import { OF_GROUP, OF_NAMESPACE } from '../../functions/cluster/object-reads.ts'
import { Failure } from '../../functions/domain/failure.ts'

const THINGS = { plural: 'things', namespaced: true }
const NEVER = new AbortController().signal

/** A cluster whose aggregated groups never answer; `open` has the paths of the calls that wait. */
function stage() {
  const open = new Set<string>()
  const server: ApiServer = async ({ path, signal }) => {
    if (!path.includes('example.com')) return { status: 200, text: '{}' }
    open.add(path)
    return new Promise((_resolve, reject) => {
      signal?.addEventListener('abort', () => {
        open.delete(path)
        reject(new Failure('Timeout', 'The call was ended.'))
      })
    })
  }
  const cluster = connectCluster(server)
  let count = 0
  function read(group: string, namespace: string, signal = NEVER): Promise<string> {
    const reference = { apiVersion: `${group}/v1`, kind: 'Thing', namespace, name: `n${count++}` }
    return cluster.readObject(reference, THINGS, { namespace, signal })
  }
  return { cluster, open, read }
}

t.test('an API that hangs gets no more calls than a namespace and a group may have', async (t) => {
  const { open, read } = stage()
  for (let i = 0; i < 3 * OF_NAMESPACE; i += 1) void read('things.example.com', 'one')
  await setImmediate()
  t.equal(open.size, OF_NAMESPACE, 'of one namespace')
  void read('others.example.com', 'one')
  await setImmediate()
  t.equal(open.size, OF_NAMESPACE, 'whatever the group')
  for (const namespace of ['two', 'three', 'four'])
    for (let i = 0; i < OF_NAMESPACE; i += 1) void read('things.example.com', namespace)
  await setImmediate()
  t.equal(open.size, OF_GROUP, 'of one group')
  void read('others.example.com', 'five')
  await setImmediate()
  t.equal(open.size, OF_GROUP + 1, 'another namespace reads objects of another group')
})

t.test('objects of the API server itself are read meanwhile', async (t) => {
  const { cluster, read } = stage()
  for (let i = 0; i < 2 * OF_NAMESPACE; i += 1) void read('things.example.com', 'one')
  await setImmediate()
  const reference = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'one', name: 'shop' }
  const served = { plural: 'configmaps', namespaced: true }
  t.equal(await cluster.readObject(reference, served, { namespace: 'one', signal: NEVER }), '{}')
})

t.test('reads end with the signal: those that wait, and those that are under way', async (t) => {
  const { open, read } = stage()
  const over = new AbortController()
  const reads = Array.from({ length: 2 * OF_NAMESPACE }, () => read('things.example.com', 'one', over.signal))
  const ends = Promise.allSettled(reads)
  await setImmediate()
  over.abort()
  const reasons = (await ends).map((end) => end.status === 'rejected' && end.reason)
  for (const reason of reasons) t.match(reason, { name: 'Failure', reason: 'Timeout' })
  t.equal(open.size, 0)
  void read('things.example.com', 'one')
  await setImmediate()
  t.equal(open.size, 1, 'the places are free again')
})

t.test('no more is read of an object than its reader says', async (t) => {
  const asked: unknown[] = []
  const cluster = connectCluster(async ({ most }) => {
    asked.push(most)
    return { status: 200, text: '{}' }
  })
  const reference = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'one', name: 'shop' }
  const served = { plural: 'configmaps', namespaced: true }
  await cluster.readObject(reference, served, { namespace: 'one', signal: NEVER, most: 7 })
  await cluster.readObject(reference, served, { namespace: 'one', signal: NEVER })
  t.same(asked, [7, undefined])
})
