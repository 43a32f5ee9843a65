import t from 'tap'
import { rest } from '../../functions/attempt/rest.ts'
import { CONFLICT } from '../../functions/cluster/cluster.ts'
import { Failure } from '../../functions/domain/failure.ts'
import { envelopeOf } from '../../functions/domain/resource/envelope.ts'
import type { Envelope } from '../../functions/domain/resource/resource.ts'
import { gitCommit, memoryWorld, type MemoryWorld } from '../harness/memory-world.ts'

/** A world with a suspended GitCommit, as it was read. */
function suspended(): { readonly world: MemoryWorld; readonly found: Envelope } {
  const world = memoryWorld()
  return { world, found: envelopeOf(world.cluster.apply(gitCommit({ suspend: true }))) }
}

t.test('the status tells it, after another writer too, with one Event', async (t) => {
  const { world, found } = suspended()
  world.cluster.apply(gitCommit({ suspend: true }, { note: 'of somebody else' }))
  await rest(found, world)
  t.match(world.cluster.get('GitCommit', 'team', 'shop'), { status: { phase: 'Suspended' } })
  await rest(envelopeOf(world.cluster.get('GitCommit', 'team', 'shop')), world)
  t.match(world.cluster.notices, [{ type: 'Normal', reason: 'Suspended' }])
  t.equal(world.cluster.notices.length, 1)
})

t.test('one that is deleted meanwhile is left alone', async (t) => {
  const { world, found } = suspended()
  world.cluster.remove('GitCommit', 'team', 'shop')
  await rest(found, world)
  t.equal(world.cluster.get('GitCommit', 'team', 'shop'), undefined)
})

t.test('where others never stop writing, the event is sent again', async (t) => {
  const { world, found } = suspended()
  let writes = 0
  const patchStatus = (): Promise<unknown> => {
    writes += 1
    return Promise.resolve(CONFLICT)
  }
  const busy = { ...world, cluster: { ...world.cluster, patchStatus } }
  await t.rejects(
    rest(found, busy),
    new Failure('Conflict', 'Other writers kept changing the resource; Commitlet retries automatically.'),
  )
  t.equal(writes, 8)
})
