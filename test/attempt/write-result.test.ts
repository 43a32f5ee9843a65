import t from 'tap'
import { claim } from '../../functions/attempt/claim.ts'
import { writeResult } from '../../functions/attempt/write-result.ts'
import { CONFLICT } from '../../functions/cluster/cluster.ts'
import { Failure } from '../../functions/domain/failure.ts'
import { failed } from '../../functions/domain/resource/status.ts'
import { envelopeOf } from '../../functions/domain/resource/envelope.ts'
import { REQUESTED_AT } from '../../functions/domain/resource/api-names.ts'
import { type Envelope } from '../../functions/domain/resource/resource.ts'
import { parse } from '../../functions/domain/schema/parse.ts'
import { gitCommit, memoryWorld, type MemoryWorld } from '../harness/memory-world.ts'

const UP_TO_DATE = {
  reason: 'UpToDate',
  message: 'It is there already.',
  credentialsUsed: 'Primary',
} as const

/** The resource as it is stored, claimed and requested. */
async function claimed(world: MemoryWorld): Promise<Envelope> {
  const whole = world.cluster.apply(gitCommit({}, { [REQUESTED_AT]: 'first' }))
  const held = await claim({ envelope: envelopeOf(whole), parsed: parse(whole) }, world)
  if (held === undefined || 'newer' in held) throw new Error('Nobody else was at work')
  return held.envelope
}

for (const [what, answer] of [
  ['a conflict', () => CONFLICT],
  [
    'an error',
    () => {
      throw new Failure('NetworkError', 'The API server broke the connection.')
    },
  ],
] as const) {
  t.test(
    `a result that was stored counts, though its answer was lost and ${what} came instead`,
    async (t) => {
      const world = memoryWorld()
      const held = await claimed(world)
      let lost = 1
      const cluster: MemoryWorld['cluster'] = {
        ...world.cluster,
        async patchStatus(resource, status) {
          const stored = await world.cluster.patchStatus(resource, status)
          return lost-- > 0 ? answer() : stored
        },
      }
      const { written } = await writeResult(held, UP_TO_DATE, { ...world, cluster })
      t.match(written, { status: { phase: 'Succeeded' }, envelope: { status: { phase: 'Succeeded' } } })
    },
  )
}

t.test('a result that another wrote for this claim, which had lapsed, is not ours', async (t) => {
  const world = memoryWorld()
  const held = await claimed(world)
  const other = new Failure('RetryBudgetExhausted', 'The last one did not finish.')
  await world.cluster.patchStatus(held, failed(held, other, { now: world.now(), limit: 12, random: 0 }))
  t.same(await writeResult(held, UP_TO_DATE, world), {})
})

t.test('an annotation that is removed during the attempt requests no second one', async (t) => {
  const world = memoryWorld()
  const held = await claimed(world)
  world.cluster.apply(gitCommit())
  t.match(await writeResult(held, UP_TO_DATE, world), {
    written: { status: { phase: 'Succeeded' } },
    newer: undefined,
  })
})

t.test(
  'the result of a resource that somebody changes again and again is written between two changes',
  async (t) => {
    const world = memoryWorld()
    const held = await claimed(world)
    let changes = 0
    function change(): void {
      changes += 1
      world.cluster.apply(gitCommit({}, { [REQUESTED_AT]: 'first', 'example.com/changes': String(changes) }))
    }
    const timers: NodeJS.Timeout[] = []
    t.teardown(() => timers.forEach(clearTimeout))
    const cluster: MemoryWorld['cluster'] = {
      ...world.cluster,
      async readResource(ref) {
        const whole = await world.cluster.readResource(ref)
        timers.push(setTimeout(change, 40))
        return whole
      },
    }
    change()
    const { written } = await writeResult(held, UP_TO_DATE, { ...world, cluster })
    t.match(written, { status: { phase: 'Succeeded' } })
    t.equal(changes, 1, 'the first write after it was read')
  },
)
