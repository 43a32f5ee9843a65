import t from 'tap'
import type { LeaseTerms } from '../../../functions/cluster/sweep/lease.ts'
import { leaseAt } from '../../../functions/cluster/sweep/lease.ts'
import { withControlPlane } from '../../harness/control-plane.ts'
import { openAs } from '../stage.ts'

const TERMS: LeaseTerms = {
  holder: 'one',
  durationSeconds: 30,
  acquireTime: '2026-01-01T12:00:00.000000Z',
  renewTime: '2026-01-01T12:00:10.000000Z',
  transitions: 0,
}

withControlPlane(t, async (t, plane) => {
  const server = openAs(plane.kubeconfig)
  const namespace = await plane.createNamespace()
  const lease = leaseAt(server, { namespace, name: 'sweeps' })
  const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/sweeps`

  t.test('a Lease that is not there is created, by one writer', async (t) => {
    t.equal(await lease.read(), undefined)
    t.match(await lease.write(TERMS, undefined), TERMS)
    t.equal(await lease.write({ ...TERMS, holder: 'two' }, undefined), undefined)
    t.match(await lease.read(), TERMS)
  })

  t.test(
    'a write that is not the next one changes nothing, and what others have written stays',
    async (t) => {
      const labelled = {
        metadata: { labels: { team: 'platform' } },
        spec: { strategy: 'OldestEmulationVersion' },
      }
      await plane.api.need('PATCH', path, labelled, { 'content-type': 'application/merge-patch+json' })
      const [before, same] = [await lease.read(), await lease.read()]
      const written = await lease.write({ ...TERMS, holder: 'two', transitions: 1 }, before)
      t.equal(await lease.write({ ...TERMS, holder: 'three', transitions: 1 }, same), undefined)
      t.match(await lease.write({ ...TERMS, holder: 'two', transitions: 1 }, written), { holder: 'two' })
      t.match(await plane.api.need('GET', path), {
        metadata: { labels: { team: 'platform' } },
        spec: { holderIdentity: 'two', leaseTransitions: 1, leaseDurationSeconds: 30 },
      })
    },
  )

  t.test('a Lease that nobody holds, and one that was deleted', async (t) => {
    const before = await lease.read()
    t.ok(await lease.write({ ...TERMS, holder: '', durationSeconds: 1 }, before))
    const free = await lease.read()
    t.match(free, { holder: '', durationSeconds: 1 })
    await plane.api.need('DELETE', path)
    t.equal(await lease.write(TERMS, free), undefined)
  })
})

for (const [status, reason] of [
  [403, 'ReferenceForbidden'],
  [500, 'ProviderUnavailable'],
] as const)
  t.test(`an API server that answers ${status} is a Failure, and no missing Lease`, async (t) => {
    const lease = leaseAt(() => Promise.resolve({ status, text: '{}' }), {
      namespace: 'shop',
      name: 'sweeps',
    })
    await t.rejects(lease.read(), { name: 'Failure', reason })
    await t.rejects(lease.write(TERMS, undefined), { name: 'Failure', reason })
  })

t.test('a Lease without a spec is one that nobody holds', async (t) => {
  const lease = leaseAt(() => Promise.resolve({ status: 200, text: '{}' }), {
    namespace: 'shop',
    name: 'sweeps',
  })
  t.match(await lease.read(), { holder: '', durationSeconds: 0, transitions: 0 })
})
