import { EventEmitter } from 'node:events'
import { serialize, deserialize } from 'node:v8'
import t from 'tap'
import { parentsCluster, serveCluster } from '../../demo/story/remote-cluster.ts'
import { CONFLICT } from '../../functions/cluster/cluster.ts'
import { envelopeOf } from '../../functions/domain/resource/envelope.ts'
import { memoryCluster } from '../harness/memory-cluster.ts'

/** Both ends of a channel between processes: what one sends is copied to the other. */
function channel() {
  const [parent, child] = [new EventEmitter(), new EventEmitter()]
  const to = (end: EventEmitter) => (message: unknown) => end.emit('message', deserialize(serialize(message)))
  return {
    parent: Object.assign(parent, { connected: true, send: to(child) }) as never,
    child: Object.assign(child, { send: to(parent) }) as never,
  }
}

const GIT_COMMIT = {
  apiVersion: 'commitlet.dev/v1',
  kind: 'GitCommit',
  metadata: { name: 'shop', namespace: 'demo' },
  spec: {},
}
const REF = { kind: 'GitCommit', namespace: 'demo', name: 'shop' } as const

t.test('a process works on the cluster of its parent', async (t) => {
  const memory = memoryCluster()
  memory.apply(GIT_COMMIT)
  memory.apply({
    ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'git', namespace: 'demo' } },
    stringData: { token: 'x' },
  })
  const { parent, child } = channel()
  serveCluster(parent, memory)
  const cluster = parentsCluster(child, 60_000)
  t.ok(cluster.now().getTime() > Date.now() + 50_000, 'its time is ahead')
  const { data } = await cluster.readSecret('demo', 'git')
  t.strictSame(
    [...data].map(([key, bytes]) => [key, Buffer.from(bytes).toString()]),
    [['token', 'x']],
  )
  const found = envelopeOf(await cluster.readResource(REF))
  const status = { observedGeneration: 1, phase: 'Progressing' } as const
  t.match(await cluster.patchStatus(found, status), { status })
  t.equal(await cluster.patchStatus(found, status), CONFLICT, 'another writer was first')
  await t.rejects(cluster.readSecret('demo', 'none'), { name: 'Failure', reason: 'ReferenceNotFound' })
})
