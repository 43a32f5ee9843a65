import t from 'tap'
import { CONFLICT } from '../../functions/cluster/cluster.ts'
import { connectCluster } from '../../functions/cluster/connect.ts'
import { envelopeOf } from '../../functions/domain/resource/envelope.ts'
import type { Envelope } from '../../functions/domain/resource/resource.ts'
import type { Status } from '../../functions/domain/resource/stored-status.ts'
import { installResources } from '../harness/commitlet.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import { gitCommit } from '../harness/installation.ts'
import { openAs } from './stage.ts'

const REPOSITORY = 'https://git.example.com/acme/config.git'

withControlPlane(t, async (t, plane) => {
  await installResources(plane)
  const cluster = connectCluster(openAs(plane.kubeconfig))
  const namespace = await plane.createNamespace()

  async function stored(name: string): Promise<Envelope> {
    const input = JSON.stringify(gitCommit(name, REPOSITORY))
    await plane.kubectl(['apply', '-n', namespace, '-f', '-'], { input })
    return read(name)
  }

  async function read(name: string): Promise<Envelope> {
    return envelopeOf(await cluster.readResource({ kind: 'GitCommit', namespace, name }))
  }

  t.test('a status replaces the one before, nested members included', async (t) => {
    const first = await stored('replaced')
    const commit = { sha: 'a'.repeat(40), shortSHA: 'a'.repeat(12), branch: 'main', path: 'x' }
    const rich: Status = {
      observedGeneration: 1,
      phase: 'Retrying',
      attempts: 3,
      lastHandledRequestedAt: 'now',
      nextAttemptTime: '2030-01-01T00:00:00Z',
      commit: { ...commit, url: 'https://git.example.com/acme/config/commit/a' },
      conditions: [condition('Ready'), condition('Stalled')],
    }
    await cluster.patchStatus(first, rich)
    const second = await read('replaced')
    t.same(second.status, rich)
    const poor: Status = {
      observedGeneration: 1,
      phase: 'Succeeded',
      commit,
      conditions: [condition('Ready')],
    }
    const answer = await cluster.patchStatus(second, poor)
    t.same(envelopeOf(answer).status, poor)
    t.same((await read('replaced')).status, poor)
    await cluster.patchStatus(await read('replaced'), { observedGeneration: 1, phase: 'Pending' })
    t.same((await read('replaced')).status, { observedGeneration: 1, phase: 'Pending' })
  })

  t.test(
    'a status is not written over another writer, nor to another object or one that is gone',
    async (t) => {
      const status: Status = { observedGeneration: 1, phase: 'Succeeded' }
      const seen = await stored('contested')
      await plane.kubectl(['label', '-n', namespace, 'gitcommit', 'contested', 'a=b'])
      t.equal(await cluster.patchStatus(seen, status), CONFLICT, 'changed meanwhile')
      await plane.kubectl(['delete', '-n', namespace, 'gitcommit', 'contested'])
      t.equal(await cluster.patchStatus(seen, status), CONFLICT, 'deleted')
      await stored('contested')
      t.equal(await cluster.patchStatus(seen, status), CONFLICT, 'replaced by one of the same name')
      t.same((await stored('contested')).status, { observedGeneration: -1, phase: 'Pending' })
    },
  )

  t.test('a status for which the resource leaves no room is NotSupported, and not tried again', async (t) => {
    const name = 'full'
    await stored(name)
    const path = `/apis/commitlet.dev/v1/namespaces/${namespace}/gitcommits/${name}`
    const owner = { apiVersion: 'test.example.com/v1', kind: 'None', uid: 'none' }
    const grown = (size: number): object => ({
      metadata: { ownerReferences: [{ ...owner, name: 'x'.repeat(size) }] },
    })
    const headers = { 'content-type': 'application/merge-patch+json' }
    // Of the 1.5 MiB that etcd stores, as much as there is.
    for (let size = 1_571_000; size < 1_573_000; size += 300) {
      const { status } = await plane.api.ask('PATCH', path, grown(size), headers)
      if (status !== 200) break
    }
    const conditions = [{ ...condition('Ready'), message: 'Y'.repeat(500) }]
    const status: Status = { observedGeneration: 1, phase: 'Progressing', conditions }
    await t.rejects(cluster.patchStatus(await read(name), status), {
      reason: 'NotSupported',
      retry: 'never',
      message: `The GitCommit ${namespace}/${name} is so large that the API server has no room for its status; remove labels, annotations, finalizers or ownerReferences from it.`,
    })
    await plane.api.need('PATCH', path, { metadata: { ownerReferences: null } }, headers)
    t.match(envelopeOf(await cluster.patchStatus(await read(name), status)), {
      status: { phase: 'Progressing' },
    })
  })

  t.test('a status that the CRD does not accept is a Failure', async (t) => {
    const wrong = { observedGeneration: 1, phase: 'Lost' } as unknown as Status
    await t.rejects(cluster.patchStatus(await stored('wrong'), wrong), {
      reason: 'ProviderUnavailable',
      message: `The API server answered 422 for status of GitCommit ${namespace}/wrong; Commitlet retries automatically.`,
    })
  })
})

function condition(type: 'Ready' | 'Stalled'): NonNullable<Status['conditions']>[number] {
  const lastTransitionTime = '2030-01-01T00:00:00Z'
  return { type, status: 'False', reason: 'X', message: 'Y.', observedGeneration: 1, lastTransitionTime }
}
