import t from 'tap'
import { parseResource } from '../functions/domain/parse.ts'
import { commitObject } from '../functions/gitcommit.ts'
import type { World } from '../functions/world.ts'
import { gitCommit, memoryWorld } from './harness/memory-world.ts'

const ROLE = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', name: 'shop' } as const
const ATTEMPT = { again: false, signal: new AbortController().signal } as const

/** An attempt at committing a cluster role, the kind of which `judged` tells as namespaced or not. */
async function attempt(referenceScope: 'namespace' | 'any', judged: boolean) {
  const world = memoryWorld()
  const { apiVersion, kind, name } = ROLE
  const role = { apiVersion, kind, metadata: { name } }
  const stored = world.cluster.apply(gitCommit({ resourceRef: { ...ROLE, path: 'role.yaml' } }))
  const resource = parseResource(stored)
  if (resource.kind !== 'GitCommit') throw new Error('not a GitCommit')
  const cluster = {
    ...world.cluster,
    discover: async () => ({ plural: 'clusterroles', namespaced: judged }),
    readObject: async () => JSON.stringify(role),
  }
  const settings = { ...world.settings, referenceScope }
  await commitObject(resource, { ...world, cluster, settings }, ATTEMPT)
  return Buffer.from(world.pushed[0]?.change.content ?? '').toString()
}

t.test('a cluster-scoped object is committed where the operator allows any', async (t) => {
  t.match(await attempt('any', false), /kind: ClusterRole\nmetadata:\n {2}name: shop\n$/)
})

t.test('a kind that became cluster-scoped after it was judged does not leave the namespace', async (t) => {
  await t.rejects(attempt('namespace', true), {
    reason: 'ReferenceForbidden',
    message:
      /^The answer for ClusterRole team\/shop is another object: its metadata\.namespace is not "team"/,
  })
})

t.test(
  'what an earlier attempt has pushed counts, though the object is gone; otherwise its absence does',
  async (t) => {
    const landed = { outcome: 'found', sha: 'a'.repeat(40), branch: 'main' } as const
    for (const [again, found] of [
      [true, landed],
      [true, undefined],
      [false, landed],
    ] as const) {
      const world = memoryWorld()
      const resource = parseResource(world.cluster.apply(gitCommit()))
      if (resource.kind !== 'GitCommit') throw new Error('not a GitCommit')
      world.cluster.remove('ConfigMap', 'team', 'shop')
      const searched: unknown[] = []
      const find: World['find'] = async (draft) => {
        searched.push(draft.since)
        return found
      }
      const ending = commitObject(resource, { ...world, find }, { ...ATTEMPT, again })
      if (again && found !== undefined)
        t.match(await ending, { reason: 'Succeeded', commit: { sha: landed.sha } })
      else await t.rejects(ending, { message: /^There is no ConfigMap team\/shop/ })
      t.same(searched, again ? [new Date('2026-03-01T09:00:00Z')] : [])
      t.same(world.pushed, [])
    }
  },
)

t.test('a bug while the object is read is no refusal', async (t) => {
  const world = memoryWorld()
  const resource = parseResource(world.cluster.apply(gitCommit()))
  if (resource.kind !== 'GitCommit') throw new Error('not a GitCommit')
  const cluster = { ...world.cluster, readObject: () => Promise.reject(new TypeError('a bug')) }
  await t.rejects(commitObject(resource, { ...world, cluster }, { ...ATTEMPT, again: true }), TypeError)
})
