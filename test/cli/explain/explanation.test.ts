import t from 'tap'
import { ADVICE } from '../../../cli/explain/advice.ts'
import { explain } from '../../../cli/explain/explanation.ts'
import type { Condition, Status } from '../../../functions/domain/resource/stored-status.ts'
import type { Envelope } from '../../../functions/domain/resource/resource.ts'
import { REASONS } from '../../../functions/domain/reasons.ts'

const NOW = new Date('2026-03-01T10:00:00Z')

function ready(
  status: Condition['status'],
  reason: string,
  message = 'What was found.',
): readonly Condition[] {
  const lastTransitionTime = '2026-03-01T09:00:00Z'
  return [{ type: 'Ready', status, reason, message, observedGeneration: 1, lastTransitionTime }]
}

function resource(status: Partial<Status> | undefined, more: Partial<Envelope> = {}): Envelope {
  const metadata = { name: 'shop', namespace: 'team', uid: 'u', generation: 1, resourceVersion: '1' }
  const whole = status && { observedGeneration: 1, phase: 'Pending' as const, ...status }
  return { kind: 'GitCommit', metadata, ...(whole === undefined ? {} : { status: whole }), ...more }
}

t.test('every reason has an advice', async (t) => {
  t.same(Object.keys(ADVICE).toSorted(), Object.keys(REASONS).toSorted())
})

const CASES: readonly (readonly [string, Envelope, object])[] = [
  [
    'done',
    resource({ phase: 'Succeeded', conditions: ready('True', 'Succeeded') }),
    { outcome: 'good', next: /done/, advice: undefined },
  ],
  [
    'being deleted, whoever its annotations name',
    resource(undefined, {
      appliedAt: '2026-03-01T09:00:00Z',
      metadata: {
        ...resource(undefined).metadata,
        deletionTimestamp: '2026-03-01T09:00:00Z',
        annotations: { 'commitlet.dev/requested-by': 'admin' },
      },
    }),
    { requestedBy: undefined, next: /being deleted/, advice: undefined },
  ],
  [
    'failed for good',
    resource({ phase: 'Failed', attempts: 1, conditions: ready('False', 'PushRejected') }),
    { outcome: 'wrong', attempts: 1, next: /Nothing by itself/, advice: /requested-at=/ },
  ],
  [
    'tried again in minutes, or when the object is there',
    resource({
      phase: 'Retrying',
      nextAttemptTime: '2026-03-01T10:05:00Z',
      waitingFor: [{ field: 'spec.resourceRef', version: 'x' }],
      conditions: ready('False', 'ReferenceNotFound'),
    }),
    { outcome: 'wrong', next: /in 5 min.*spec\.resourceRef/, advice: /create the object/ },
  ],
  [
    'tried again in hours, slowly',
    resource({
      phase: 'Retrying',
      nextAttemptTime: '2026-03-01T16:00:00Z',
      conditions: ready('False', 'AuthenticationFailed'),
    }),
    { next: /in 6 h/, advice: /valid token.*requested-at=/s },
  ],
  [
    'due now',
    resource({
      phase: 'Retrying',
      nextAttemptTime: '2026-03-01T09:59:00Z',
      conditions: ready('False', 'Timeout'),
    }),
    { next: /\(now\)/ },
  ],
  [
    'due in seconds',
    resource({
      phase: 'Retrying',
      nextAttemptTime: '2026-03-01T10:00:30Z',
      conditions: ready('False', 'Timeout'),
    }),
    { next: /in 30 s/, advice: /wait/ },
  ],
  [
    'an attempt that runs',
    resource({ phase: 'Progressing', conditions: ready('Unknown', 'Progressing') }),
    { outcome: 'unknown', next: /is running/, advice: undefined },
  ],
  [
    'just applied',
    resource(undefined, { appliedAt: '2026-03-01T09:59:59Z' }),
    { outcome: 'unknown', phase: 'Pending', message: /No attempt/, next: /hears of it/, advice: undefined },
  ],
  [
    'never heard of',
    resource({ observedGeneration: -1 }, { appliedAt: '2026-03-01T09:00:00Z' }),
    { outcome: 'unknown', advice: /commitlet doctor/ },
  ],
  [
    'a newer request than the status is about',
    resource(
      { phase: 'Succeeded', conditions: ready('True', 'Succeeded') },
      { metadata: { name: 'shop', namespace: 'team', uid: 'u', generation: 2, resourceVersion: '2' } },
    ),
    { outcome: 'unknown', next: /older request/ },
  ],
  [
    'suspended',
    resource({ phase: 'Suspended', conditions: ready('True', 'Succeeded') }, { suspended: true }),
    { outcome: 'good', next: /suspend/ },
  ],
]

for (const [title, given, expected] of CASES)
  t.test(title, async (t) => {
    t.match(explain(given, NOW), expected)
  })
