import { createSecretKey } from 'node:crypto'
import t from 'tap'
import { Failure } from '../../../functions/domain/failure.ts'
import type { ReferenceField } from '../../../functions/domain/spec/spec.ts'
import type { Status } from '../../../functions/domain/resource/stored-status.ts'
import {
  awaitedAfter,
  awaitedBy,
  looksUntil,
  MISSING,
  UNREADABLE,
  versionOf,
} from '../../../functions/domain/resource/waiting.ts'
import { resource } from '../fixtures/envelope.ts'

const KEY = { uid: 'u-1', key: createSecretKey(Buffer.alloc(32, 'k')) }
const NOW = new Date('2026-03-01T10:00:00Z')

t.test('a version tells states, fields and resources apart, and nothing to who lacks the key', async (t) => {
  const versions = [
    versionOf('spec.credentials', MISSING, KEY),
    versionOf('spec.credentials', UNREADABLE, KEY),
    versionOf('spec.credentials', 'a/1', KEY),
    versionOf('spec.credentials', 'a/2', KEY),
    versionOf('spec.fallbackCredentials', MISSING, KEY),
    versionOf('spec.credentials', MISSING, { ...KEY, uid: 'u-2' }),
    versionOf('spec.credentials', MISSING, { ...KEY, key: createSecretKey(Buffer.alloc(32, 'l')) }),
    versionOf('spec.credentials', MISSING, { ...KEY, key: undefined }),
  ]
  for (const version of versions) t.match(version, /^[0-9a-f]{16}$/)
  t.equal(new Set(versions).size, versions.length)
  t.equal(versionOf('spec.credentials', 'a/1', KEY), versions[2])
})

t.test('what is awaited depends on how the failure is retried', async (t) => {
  const sightings = new Map<ReferenceField, string>([
    ['spec.resourceRef', MISSING],
    ['spec.credentials', 'a/1'],
    ['spec.fallbackCredentials', MISSING],
  ])
  const fields = (failure: Failure): readonly string[] =>
    awaitedAfter(failure, sightings, KEY).map(({ field }) => field)
  t.same(fields(new Failure('ReferenceNotFound', 'No.')), ['spec.resourceRef', 'spec.fallbackCredentials'])
  t.same(fields(new Failure('AuthenticationFailed', 'No.')), ['spec.credentials', 'spec.fallbackCredentials'])
  t.same(fields(new Failure('ReferenceNotFound', 'No.', { retry: 'transient' })), [])
  for (const reason of ['NetworkError', 'PushRejected', 'RateLimited'] as const)
    t.same(fields(new Failure(reason, 'No.')), [], reason)
})

t.test('a resource waits while it is retried later, and for this generation alone', async (t) => {
  const waitingFor = [{ field: 'spec.resourceRef', version: '0'.repeat(16) }] as const
  const status: Status = {
    ...{ observedGeneration: 1, phase: 'Retrying', waitingFor },
    nextAttemptTime: '2026-03-01T10:05:00Z',
  }
  t.same(awaitedBy(resource(status), NOW), waitingFor)
  t.same(awaitedBy(resource(status), new Date('2026-03-01T10:05:00Z')), [])
  t.same(awaitedBy(resource(status, { generation: 2 }), NOW), [])
  t.same(awaitedBy(resource(status, { deleting: true }), NOW), [])
  t.same(awaitedBy(resource({ ...status, phase: 'Progressing' }), NOW), [])
  t.same(awaitedBy(resource(), NOW), [])
})

t.test('only what is missing is looked for again and again, for ten minutes', async (t) => {
  const status = (reason: string, startedAt = '2026-03-01T10:00:00Z'): Status => ({
    ...{ observedGeneration: 1, phase: 'Retrying', startedAt },
    conditions: [
      {
        type: 'Ready',
        status: 'False',
        reason,
        message: '',
        observedGeneration: 1,
        lastTransitionTime: startedAt,
      },
    ],
  })
  t.equal(looksUntil(status('ReferenceNotFound')), Date.parse('2026-03-01T10:10:00Z'))
  t.equal(looksUntil(status('ReferenceNotFound', 'long ago')), undefined)
  t.equal(looksUntil(status('AuthenticationFailed')), undefined)
  t.equal(looksUntil(status('Anything')), undefined)
  t.equal(looksUntil(undefined), undefined)
})
