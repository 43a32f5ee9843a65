import t from 'tap'
import { claim } from '../../functions/attempt/claim.ts'
import { writeResult } from '../../functions/attempt/write-result.ts'
import { envelopeOf } from '../../functions/domain/resource/envelope.ts'
import { REQUESTED_AT } from '../../functions/domain/resource/resource.ts'
import { parse } from '../../functions/domain/schema/parse.ts'
import { gitCommit, memoryWorld } from '../harness/memory-world.ts'

const UP_TO_DATE = {
  reason: 'UpToDate',
  message: 'It is there already.',
  credentialsUsed: 'Primary',
} as const

t.test('an annotation that is removed during the attempt requests no second one', async (t) => {
  const world = memoryWorld()
  const whole = world.cluster.apply(gitCommit({}, { [REQUESTED_AT]: 'first' }))
  const held = await claim({ envelope: envelopeOf(whole), parsed: parse(whole) }, world)
  if (held === undefined) throw new Error('Nobody else was at work')
  world.cluster.apply(gitCommit())
  t.match(await writeResult(held.envelope, UP_TO_DATE, world), {
    written: { status: { phase: 'Succeeded' } },
    newer: undefined,
  })
})
