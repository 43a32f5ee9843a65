import t from 'tap'
import { conditionsOf, timestamp } from '../../../functions/domain/resource/conditions.ts'
import type { ConditionsInput } from '../../../functions/domain/resource/conditions.ts'
import { Failure } from '../../../functions/domain/failure.ts'
import { resource } from '../fixtures/envelope.ts'

const NOW = new Date('2026-03-01T10:00:00.400Z')
const EARLIER = '2026-02-01T10:00:00Z'
const FRESH = { observedGeneration: -1, phase: 'Pending' } as const

t.test('Ready is always there, and the condition beside it says the same', async (t) => {
  const said = { reason: 'Timeout', message: 'It took too long.' }
  const alone = { ...said, observedGeneration: 1, lastTransitionTime: '2026-03-01T10:00:00Z' }
  const envelope = resource(FRESH)
  t.strictSame(conditionsOf(envelope, NOW, { ready: 'True', ...said }), [
    { type: 'Ready', status: 'True', ...alone },
  ])
  t.strictSame(conditionsOf(envelope, NOW, { ready: 'False', progress: 'Stalled', ...said }), [
    { type: 'Ready', status: 'False', ...alone },
    { type: 'Stalled', status: 'True', ...alone },
  ])
})

t.test('a transition time changes only with the status', async (t) => {
  const before = { type: 'Ready', reason: 'Timeout', message: 'm', lastTransitionTime: EARLIER } as const
  const conditions = [{ ...before, status: 'False', observedGeneration: 1 }] as const
  const envelope = resource({ ...FRESH, conditions })
  const input = { reason: 'NetworkError', message: 'other' }
  t.match(conditionsOf(envelope, NOW, { ...input, ready: 'False' }), [{ lastTransitionTime: EARLIER }])
  t.match(conditionsOf(envelope, NOW, { ...input, ready: 'True' }), [{ lastTransitionTime: timestamp(NOW) }])
})

t.test('a message is as long as that of a Failure, and no longer', async (t) => {
  for (const length of [5_000, 32_768, 40_000]) {
    const message = 'x'.repeat(length)
    const [ready] = conditionsOf(resource(FRESH), NOW, { ready: 'True', reason: 'Succeeded', message })
    t.equal(ready?.message, new Failure('Internal', message).message)
  }
})

const APPLIED = {
  type: 'DetailsApplied',
  status: 'True',
  reason: 'Applied',
  message: 'All of them.',
  observedGeneration: 1,
  lastTransitionTime: EARLIER,
} as const
const READY = { ready: 'True', reason: 'UpToDate', message: 'It is open.' } as const

t.test('the result of the details has its own condition, of this generation', async (t) => {
  const envelope = resource({ ...FRESH, conditions: [APPLIED] }, { generation: 2 })
  const details = { applied: 'False', reason: 'NotApplied', message: 'One of them.' } as const
  t.strictSame(conditionsOf(envelope, NOW, { ...READY, details }).slice(1), [
    {
      type: 'DetailsApplied',
      status: 'False',
      reason: 'NotApplied',
      message: 'One of them.',
      observedGeneration: 2,
      lastTransitionTime: timestamp(NOW),
    },
  ])
  const same = { applied: 'True', reason: 'Applied', message: 'More.' } as const
  t.match(conditionsOf(envelope, NOW, { ...READY, details: same })[1], {
    message: 'More.',
    observedGeneration: 2,
    lastTransitionTime: EARLIER,
  })
})

t.test('a Ready that does not cover all of the spec says so', async (t) => {
  const message = (details: ConditionsInput['details']): unknown =>
    conditionsOf(resource(FRESH), NOW, { ...READY, details })[0]?.message
  t.equal(
    message({ applied: 'False', reason: 'NotApplied', message: 'One of them.' }),
    'It is open. (not all labels, reviewers or assignees could be added: see the condition DetailsApplied)',
  )
  for (const details of [
    undefined,
    'as before',
    { applied: 'False', reason: 'NotOurs', message: 'Left.' },
    { applied: 'True', reason: 'Applied', message: 'All.' },
  ] as const)
    t.equal(message(details), 'It is open.')
})

t.test('without news of the details, the condition stays as it is, its generation too', async (t) => {
  const notOurs = { ...APPLIED, status: 'False', reason: 'NotOurs' } as const
  for (const before of [APPLIED, notOurs]) {
    const envelope = resource({ ...FRESH, conditions: [before] }, { generation: 2 })
    const input = { ...READY, ready: 'False', progress: 'Stalled', details: 'as before' } as const
    t.strictSame(conditionsOf(envelope, NOW, input)[2], before)
  }
  t.equal(conditionsOf(resource(FRESH), NOW, { ...READY, details: 'as before' }).length, 1)
})

t.test('where there are no details, there is no condition of them', async (t) => {
  const envelope = resource({ ...FRESH, conditions: [APPLIED] })
  t.equal(conditionsOf(envelope, NOW, READY).length, 1)
  t.equal(conditionsOf(envelope, NOW, { ...READY, details: undefined }).length, 1)
})
