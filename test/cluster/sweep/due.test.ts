import t from 'tap'
import type { ListedResource } from '../../../functions/cluster/cluster.ts'
import { isDue, isFollowerDue, isRetry, needsLook } from '../../../functions/cluster/sweep/due.ts'

const UID = '3f0c0d6e-5a0b-4b43-8c5e-7a8b9c0d1e2f'
const NOW = Date.parse('2026-01-01T12:00:00Z')

function listed(changes: Partial<ListedResource>): ListedResource {
  return {
    ref: { kind: 'GitCommit', namespace: 'shop', name: 'settings', uid: UID, generation: 2 },
    deleting: false,
    requestedAt: undefined,
    observedGeneration: 2,
    lastHandledRequestedAt: undefined,
    nextAttemptTime: undefined,
    reason: undefined,
    weight: 1,
    ...changes,
  }
}

for (const [title, changes, unsettled, full] of [
  ['never started', { observedGeneration: -1 }, true, true],
  ['whose time has come', { nextAttemptTime: '2026-01-01T12:00:00Z' }, true, false],
  ['whose time has not come', { nextAttemptTime: '2026-01-01T12:00:01Z' }, false, false],
  [
    'whose time comes in years, by a clock that was set back since',
    { nextAttemptTime: '2036-01-01T12:00:01Z' },
    true,
    false,
  ],
  ['whose time cannot be read', { nextAttemptTime: 'soon' }, true, false],
  ['being deleted', { observedGeneration: -1, requestedAt: 'a', deleting: true }, false, false],
  ['with a newer spec', { observedGeneration: 1, nextAttemptTime: '2026-01-01T13:00:00Z' }, false, true],
  [
    'requested again',
    { requestedAt: 'b', lastHandledRequestedAt: 'a', nextAttemptTime: '2026-01-01T18:00:00Z' },
    false,
    true,
  ],
  [
    'requested and handled',
    { requestedAt: 'a', lastHandledRequestedAt: 'a', nextAttemptTime: '2026-01-01T18:00:00Z' },
    false,
    false,
  ],
] as const) {
  t.test(`a resource ${title} is due: unsettled ${unsettled}, full ${full}`, async (t) => {
    t.equal(isDue(listed(changes), 'unsettled', NOW), unsettled)
    t.equal(isDue(listed(changes), 'full', NOW), full)
  })
}

const MINUTE = 60_000

function namedIn(row: ListedResource, minutes: number): number {
  const rounds = Array.from({ length: minutes * 2 }, (_, i) => NOW + i * 30_000)
  return rounds.filter((now) => needsLook(row, { since: now - 30_000, now })).length
}

t.test('while the function looks for what is missing, each round names the resource', async (t) => {
  const ahead = (minutes: number): string => new Date(NOW + minutes * MINUTE).toISOString()
  const row = listed({ reason: 'ReferenceNotFound', nextAttemptTime: ahead(9) })
  t.equal(namedIn(row, 9), 18)
  t.equal(namedIn(row, 20), 18, 'then it is due')
  t.equal(namedIn(listed({ ...row, nextAttemptTime: ahead(60) }), 49), 0)
  t.equal(namedIn(listed({ ...row, deleting: true }), 9), 0)
})

t.test('a resource that someone has to fix is named every four minutes, not all in one round', async (t) => {
  const nextAttemptTime = '2026-01-01T18:00:00Z'
  const firsts = new Set<number>()
  for (const [i, reason] of ['AuthenticationFailed', 'ReferenceForbidden', 'CredentialsInvalid'].entries()) {
    const uid = `${i}${UID.slice(1, 6)}${i * 37 + 11}${UID.slice(8)}`
    const row = listed({ reason, nextAttemptTime, ref: { ...listed({}).ref, uid } })
    t.equal(namedIn(row, 60), 15, reason)
    const rounds = Array.from({ length: 8 }, (_, round) => round)
    const isNamed = (round: number): boolean =>
      needsLook(row, { since: NOW + (round - 1) * 30_000, now: NOW + round * 30_000 })
    firsts.add(rounds.findIndex(isNamed))
  }
  t.ok(firsts.size > 1, `rounds ${[...firsts].join(', ')}`)
})

for (const reason of ['NetworkError', 'RateLimited', 'Succeeded', 'Progressing', undefined])
  t.test(`a resource with the reason ${reason} is not named before its time`, async (t) => {
    t.equal(namedIn(listed({ reason, nextAttemptTime: '2026-01-01T12:09:00Z' }), 9), 0)
  })

t.test('a follower is named once in its interval, unless its last attempt has failed', async (t) => {
  const named = (row: ListedResource, minutes: number): number => {
    const rounds = Array.from({ length: minutes * 2 }, (_, i) => NOW + i * 30_000)
    return rounds.filter((now) => isFollowerDue(row, { since: now - 30_000, now })).length
  }
  t.equal(named(listed({ reason: 'Succeeded' }), 60), 6)
  t.equal(named(listed({ reason: 'UpToDate', interval: '1m' }), 60), 60)
  t.equal(named(listed({ reason: 'UpToDate', interval: 'often' }), 60), 6)
  t.equal(named(listed({ reason: 'Succeeded', deleting: true }), 60), 0)
  for (const reason of ['ReferenceForbidden', 'NetworkError', 'Progressing', undefined])
    t.equal(named(listed({ reason }), 60), 0, `${reason}`)
})

const FAILED = { reason: 'NetworkError', nextAttemptTime: '2026-01-01T12:00:00Z' }
for (const [title, changes, retried] of [
  ['that has failed, and whose time has come, is tried again', {}, true],
  ['whose time has not come is not', { nextAttemptTime: '2026-01-01T12:00:01Z' }, false],
  ['whose function has ended is attempted for the first time', { reason: 'Progressing' }, false],
  ['with a newer spec than that which has failed, too', { observedGeneration: 1 }, false],
  ['that was requested again since, too', { requestedAt: 'b', lastHandledRequestedAt: 'a' }, false],
] as const) {
  t.test(`a resource ${title}`, async (t) => {
    t.equal(isRetry(listed({ ...FAILED, ...changes }), NOW), retried)
  })
}
