import t from 'tap'
import { claim, type Claim, type Claimable } from '../../functions/attempt/claim.ts'
import { Failure } from '../../functions/domain/failure.ts'
import { envelopeOf } from '../../functions/domain/resource/envelope.ts'
import { failed } from '../../functions/domain/resource/status.ts'
import { parse } from '../../functions/domain/schema/parse.ts'
import { gitCommit, memoryWorld, type MemoryWorld } from '../harness/memory-world.ts'

/** After the claim of an attempt that began when the world's clock stood still has run out. */
const LATER = new Date('2026-03-01T10:03:00Z')

function read(world: MemoryWorld): Claimable {
  const whole = world.cluster.get('GitCommit', 'team', 'shop')
  return { envelope: envelopeOf(whole), parsed: parse(whole) }
}

async function claimed(...of: Parameters<typeof claim>): Promise<Claim> {
  const held = await claim(...of)
  if (held === undefined || 'newer' in held) throw new Error('Nobody else was at work')
  return held
}

t.test('an attempt that fails between reading and claiming may have pushed', async (t) => {
  const world = memoryWorld()
  world.cluster.apply(gitCommit())
  const fresh = read(world)
  const other = await claimed(fresh, world)
  t.equal(other.again, false)
  const failure = new Failure('Timeout', 'The server did not answer.')
  const status = failed(other.envelope, failure, { now: world.now(), limit: 12, random: 0 })
  await world.cluster.patchStatus(other.envelope, status)
  t.match(await claim(fresh, { ...world, now: () => LATER }), { again: true })
})

t.test('a newer generation that is being deleted is not taken up', async (t) => {
  const world = memoryWorld()
  world.cluster.apply(gitCommit())
  const held = await claimed(read(world), world)
  const { metadata, ...rest } = gitCommit({ message: 'Second' })
  world.cluster.apply({ ...rest, metadata: { ...metadata, deletionTimestamp: '2026-03-01T10:00:01Z' } })
  t.equal(await claim(read(world), world, held.envelope), undefined)
})

t.test('a newer generation that another attempt holds by now is left to that one', async (t) => {
  const world = memoryWorld()
  world.cluster.apply(gitCommit())
  const held = await claimed(read(world), world)
  world.cluster.apply(gitCommit({ message: 'Second' }))
  const later = { ...world, now: () => LATER }
  t.ok(await claim(read(world), later))
  t.equal(await claim(read(world), later, held.envelope), undefined)
})

t.test(
  'a resource that replaced the one that was read is returned with its own spec, unclaimed',
  async (t) => {
    const world = memoryWorld()
    world.cluster.apply(gitCommit())
    const replaced = read(world)
    world.cluster.remove('GitCommit', 'team', 'shop')
    world.cluster.apply(gitCommit({ message: 'Another one' }))
    t.match(await claim(replaced, world), {
      newer: {
        envelope: { metadata: { generation: replaced.envelope.metadata.generation } },
        parsed: { spec: { message: 'Another one' } },
      },
      heldBefore: undefined,
    })
    t.equal(read(world).envelope.status?.phase, 'Pending')
  },
)
