import t from 'tap'
import { Failure } from '../../../functions/domain/failure.ts'
import { isCurrent, mayHavePushed, mayStart } from '../../../functions/domain/resource/attempt-state.ts'
import type { Envelope } from '../../../functions/domain/resource/resource.ts'
import type { Status } from '../../../functions/domain/resource/stored-status.ts'
import { restingStatus } from '../../../functions/domain/resource/resting.ts'
import { claimed, failed, succeeded } from '../../../functions/domain/resource/status.ts'
import type { Stored } from '../../harness/installation.ts'
import { kstatus } from '../../harness/kstatus.ts'
import { resource } from '../fixtures/envelope.ts'

const NOW = new Date('2026-03-01T10:00:00.400Z')
const LATER = new Date('2026-03-01T10:01:00.400Z')
const FRESH: Status = { observedGeneration: -1, phase: 'Pending' }
const LIMIT = 12

/** The resource at this generation; `request`: that of its last request, where only `suspend` has changed since. */
function at(generation: number, status: Status, more: { request?: number; suspended?: true } = {}): Envelope {
  const { request, suspended } = more
  const envelope = resource(status, { generation })
  const annotations = { 'commitlet.dev/request-generation': String(request) }
  return {
    ...envelope,
    metadata: { ...envelope.metadata, ...(request === undefined ? {} : { annotations }) },
    ...(suspended === undefined ? {} : { suspended }),
  }
}

const CLAIMED = at(1, claimed(at(1, FRESH), { now: NOW, random: 0.25 }))
const OUTCOME = { reason: 'Succeeded', message: 'Pushed.', credentialsUsed: 'Primary' } as const
const terms = { now: NOW, limit: LIMIT, random: 0.25 }
const failedWith = (reason: 'PushRejected' | 'NetworkError' | 'AuthenticationFailed'): Status =>
  failed(CLAIMED, new Failure(reason, 'It failed.'), terms)

const ENDS: readonly (readonly [Status, string])[] = [
  [succeeded(CLAIMED, OUTCOME, NOW), 'Current'],
  [failedWith('PushRejected'), 'Failed'],
  [failedWith('NetworkError'), 'InProgress'],
  [failedWith('AuthenticationFailed'), 'Failed'],
]

for (const [before, shown] of ENDS) {
  t.test(`${before.phase} (${before.conditions?.[0]?.reason}) comes back as it was`, async (t) => {
    const suspended = at(2, before, { request: 1, suspended: true })
    const status = restingStatus(suspended, { now: NOW })
    t.match(status, { phase: 'Suspended', observedGeneration: 2, attempts: 1 })
    if (status === undefined) return
    t.equal(status.conditions?.[0]?.status, before.conditions?.[0]?.status)
    const resting = { ...suspended, status }
    t.equal(restingStatus(resting, { now: LATER }), undefined, 'one write is enough')
    t.notOk(mayStart(resting, LATER))
    t.equal(kstatus(resting as unknown as Stored), shown, 'tools see what they saw')
    const resumed = at(3, status, { request: 1 })
    t.ok(isCurrent(resumed))
    t.equal(mayHavePushed(resumed), before.phase === 'Retrying')
    const observed = before.conditions?.map((condition) => ({ ...condition, observedGeneration: 3 }))
    t.same(restingStatus(resumed, { now: NOW }), { ...before, observedGeneration: 3, conditions: observed })
  })
}

t.test('suspended and resumed before anybody looked, it is observed and not attempted again', async (t) => {
  const before = succeeded(CLAIMED, OUTCOME, NOW)
  const resumed = at(3, before, { request: 1 })
  t.notOk(mayStart(resumed, LATER))
  t.match(restingStatus(resumed, { now: LATER }), { phase: 'Succeeded', observedGeneration: 3 })
})

t.test('a request that comes while it is suspended waits, and starts later', async (t) => {
  for (const before of [FRESH, succeeded(CLAIMED, OUTCOME, NOW)]) {
    const suspended = at(2, before, { suspended: true })
    const status = restingStatus(suspended, { now: NOW })
    t.match(status, {
      phase: 'Suspended',
      observedGeneration: 2,
      lastHandledGeneration: before.observedGeneration,
      conditions: [
        { type: 'Ready', status: before === FRESH ? 'Unknown' : 'True' },
        { type: 'Reconciling', status: 'True', reason: 'Suspended' },
      ],
    })
    if (status === undefined) continue
    const resting = { ...suspended, status }
    t.equal(kstatus(resting as unknown as Stored), 'InProgress')
    t.equal(restingStatus(resting, { now: LATER }), undefined)
    const again = restingStatus(at(3, status, { request: 2, suspended: true }), { now: LATER })
    t.match(again, { observedGeneration: 3, lastHandledGeneration: before.observedGeneration })
    const resumed = at(3, status, { request: 2 })
    t.ok(mayStart(resumed, LATER))
    t.notOk(mayHavePushed(resumed))
    t.equal(restingStatus(resumed, { now: LATER }), undefined, 'the claim is the next write')
    const claim = claimed(resumed, { now: LATER, random: 0.5 })
    t.match(claim, { phase: 'Progressing', observedGeneration: 3, attempts: 1 })
    t.notOk('lastHandledGeneration' in claim)
  }
})

t.test('requested-at on a suspended resource waits as well', async (t) => {
  const status = restingStatus(at(2, succeeded(CLAIMED, OUTCOME, NOW), { request: 1, suspended: true }), {
    now: NOW,
  })
  const annotations = { 'commitlet.dev/request-generation': '1', 'commitlet.dev/requested-at': 'now' }
  const before = at(2, status ?? FRESH, { request: 1, suspended: true })
  const asked = { ...before, metadata: { ...before.metadata, annotations } }
  const waiting = restingStatus(asked, { now: NOW })
  t.match(waiting, { phase: 'Suspended', conditions: [{ status: 'True' }, { type: 'Reconciling' }] })
  const withdrawn = restingStatus({ ...before, status: waiting ?? FRESH }, { now: NOW })
  t.same(withdrawn, before.status, 'without the annotation, nothing waits')
  const { kind, metadata } = asked
  t.ok(mayStart({ kind, metadata, status: waiting ?? FRESH }, NOW))
})

t.test('a claim that is alive is left alone; one that has lapsed may have pushed', async (t) => {
  const { status = FRESH } = CLAIMED
  const suspended = at(2, status, { request: 1, suspended: true })
  t.equal(restingStatus(suspended, { now: NOW }), undefined)
  const late = { ...suspended, status: { ...status, latePush: true } }
  t.match(restingStatus(late, { now: LATER }), { latePush: true })
  const ended = restingStatus(late, { now: NOW, isOurs: true, late: {} })
  t.match(ended, { phase: 'Suspended', latePush: undefined })
  const lapsed = restingStatus(suspended, { now: LATER })
  t.match(lapsed, { phase: 'Suspended', lapses: 1, latePush: true })
  const resumed = at(3, lapsed ?? FRESH, { request: 1 })
  t.ok(mayStart(resumed, LATER))
  t.ok(mayHavePushed(resumed))
  t.match(claimed(resumed, { now: LATER, random: 0.5 }), { attempts: 2, lapses: 1 })
})

t.test('the result of an attempt that was under way says that it is suspended', async (t) => {
  const suspended = at(2, CLAIMED.status ?? FRESH, { request: 1, suspended: true })
  t.match(succeeded(suspended, OUTCOME, NOW), { phase: 'Suspended', observedGeneration: 2 })
  const result = failed(suspended, new Failure('NetworkError', 'It failed.'), terms)
  t.match(result, { phase: 'Suspended', nextAttemptTime: String })
  t.ok(mayStart(at(3, result, { request: 1 }), LATER))
})

t.test('a resource that is being deleted, or waits for its attempt, is left alone', async (t) => {
  const deleting = resource(FRESH, { deleting: true })
  t.equal(restingStatus({ ...deleting, suspended: true }, { now: NOW }), undefined)
  t.equal(restingStatus(at(1, FRESH), { now: NOW }), undefined)
})
