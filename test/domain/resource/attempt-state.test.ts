import t from 'tap'
import {
  carriesClaim,
  isCurrent,
  isJustRequested,
  mayBeOnBranch,
  mayStart,
  requestedAt,
} from '../../../functions/domain/resource/attempt-state.ts'
import type { Envelope } from '../../../functions/domain/resource/resource.ts'
import type { Status } from '../../../functions/domain/resource/stored-status.ts'
import { resource } from '../fixtures/envelope.ts'

const NOW = new Date('2026-03-01T10:00:00.400Z')
const fresh: Status = { observedGeneration: -1, phase: 'Pending' }
const at = (seconds: number): string => new Date(NOW.getTime() + seconds * 1000).toISOString()

t.test('whether an attempt may start', async (t) => {
  const cases: readonly (readonly [string, Envelope, boolean])[] = [
    ['a fresh resource', resource(fresh), true],
    ['one without a status', resource(), true],
    ['one that is being deleted', resource(fresh, { deleting: true }), false],
    ['a settled one', resource({ observedGeneration: 1, phase: 'Succeeded' }), false],
    ['a failed one', resource({ observedGeneration: 1, phase: 'Failed' }), false],
    [
      'a settled one with a new generation',
      resource({ observedGeneration: 1, phase: 'Failed' }, { generation: 2 }),
      true,
    ],
    [
      'a settled one that is requested again',
      resource({ observedGeneration: 1, phase: 'Succeeded' }, { requestedAt: 'x' }),
      true,
    ],
    [
      'one that is requested the same again',
      resource(
        { observedGeneration: 1, phase: 'Succeeded', lastHandledRequestedAt: 'x' },
        { requestedAt: 'x' },
      ),
      false,
    ],
    [
      'a live claim',
      resource({ observedGeneration: 1, phase: 'Progressing', nextAttemptTime: at(5) }),
      false,
    ],
    [
      'a live claim, whatever generation comes',
      resource({ observedGeneration: 1, phase: 'Progressing', nextAttemptTime: at(5) }, { generation: 2 }),
      false,
    ],
    [
      'a claim that has run out',
      resource({ observedGeneration: 1, phase: 'Progressing', nextAttemptTime: at(-1) }),
      true,
    ],
    [
      'a claim that ends in years, by a clock that was set back since',
      resource({ observedGeneration: 1, phase: 'Progressing', nextAttemptTime: '2036-03-01T10:00:30Z' }),
      true,
    ],
    [
      'a retry whose time comes in years, by such a clock',
      resource({ observedGeneration: 1, phase: 'Retrying', nextAttemptTime: '2036-03-01T10:00:30Z' }),
      true,
    ],
    [
      'a retry before its time',
      resource({ observedGeneration: 1, phase: 'Retrying', nextAttemptTime: at(5) }),
      false,
    ],
    [
      'a retry whose time has come',
      resource({ observedGeneration: 1, phase: 'Retrying', nextAttemptTime: at(0) }),
      true,
    ],
    [
      'a retry before its time, with a new generation',
      resource({ observedGeneration: 1, phase: 'Retrying', nextAttemptTime: at(5) }, { generation: 2 }),
      true,
    ],
  ]
  for (const [title, envelope, expected] of cases) t.equal(mayStart(envelope, NOW), expected, title)
})

t.test('an annotation that was removed is no request', async (t) => {
  const handled: Status = { observedGeneration: 1, phase: 'Succeeded', lastHandledRequestedAt: 'x' }
  t.ok(isCurrent(resource(handled)))
  t.notOk(mayStart(resource(handled), NOW))
  t.notOk(isCurrent(resource(handled, { requestedAt: 'y' })))
})

t.test('an empty annotation counts as none', async (t) => {
  t.equal(requestedAt(resource(undefined, { requestedAt: '' })), undefined)
  t.notOk(mayStart(resource({ observedGeneration: 1, phase: 'Succeeded' }, { requestedAt: '' }), NOW))
})

t.test('a claim is carried by the resource that was claimed, not by another of the same name', async (t) => {
  const claim = resource({
    observedGeneration: 1,
    phase: 'Progressing',
    attempts: 1,
    lastAttemptTime: at(-1),
  })
  t.ok(carriesClaim({ ...claim, metadata: { ...claim.metadata, resourceVersion: '8' } }, claim))
  t.notOk(carriesClaim({ ...claim, metadata: { ...claim.metadata, uid: 'u-2' } }, claim))
})

t.test('a follower that has succeeded starts when its sources have changed since that attempt', async (t) => {
  const lastAttemptTime = at(-60)
  const status: Status = { observedGeneration: 1, phase: 'Succeeded', lastAttemptTime }
  const follower: Envelope = { ...resource(status), follows: { intervalSeconds: 600 } }
  t.ok(mayStart(follower, NOW, lastAttemptTime))
  t.notOk(mayStart(follower, NOW), 'nothing has changed')
  t.notOk(mayStart(follower, NOW, at(-90)), 'another attempt was made')
  t.notOk(mayStart({ ...follower, suspended: true }, NOW, lastAttemptTime), 'suspended')
  t.notOk(mayStart({ ...follower, status: { ...status, phase: 'Failed' } }, NOW, lastAttemptTime), 'failed')
  t.notOk(mayStart(resource(status), NOW, lastAttemptTime), 'no follower')
})

t.test('a request is what its user has just asked for until a host tells a limit, or it waits', async (t) => {
  const failedBy = (reason: string, more: Partial<Status> = {}): Envelope => {
    const condition = { type: 'Ready', status: 'False', reason, message: 'No.' } as const
    const conditions = [{ ...condition, observedGeneration: 1, lastTransitionTime: at(-60) }]
    const status = {
      observedGeneration: 1,
      lastHandledRequestedAt: 'now',
      phase: 'Retrying',
      conditions,
    } as const
    return resource({ ...status, ...more }, { requestedAt: 'now' })
  }
  t.ok(isJustRequested(resource(fresh, { requestedAt: 'now' })))
  t.ok(isJustRequested(failedBy('RateLimited', { lastHandledRequestedAt: 'before' })), 'once more')
  t.ok(isJustRequested(failedBy('Timeout')))
  t.ok(isJustRequested(failedBy('Progressing', { phase: 'Progressing' })), 'its process has ended')
  for (const reason of ['RateLimited', 'ReferenceNotFound', 'AuthenticationFailed'])
    t.notOk(isJustRequested(failedBy(reason)), reason)
  t.notOk(isJustRequested(failedBy('Succeeded', { phase: 'Succeeded' })), 'it is done')
  t.notOk(
    isJustRequested({ ...failedBy('Timeout'), follows: { intervalSeconds: 600 } }),
    'its sources may have changed since',
  )
  t.notOk(isJustRequested(resource(fresh)), 'nothing is requested')
})

t.test('only where no attempt has sent a push is no commit of an earlier one searched for', async (t) => {
  const unknown: Status = {
    observedGeneration: 1,
    phase: 'Retrying',
    attempts: 3,
    lastAttemptTime: '2026-03-01T09:59:00.123456Z',
    nextAttemptTime: at(5),
  }
  const tried: Status = { ...unknown, nothingPushedTime: '2026-03-01T09:59:00.123456Z' }
  t.notOk(mayBeOnBranch(resource(tried)))
  t.notOk(mayBeOnBranch(resource({ ...tried, phase: 'Suspended' })), 'nor after it was suspended')
  t.notOk(mayBeOnBranch(resource(fresh)), 'nor is there one before the first attempt')
  const rows: readonly (readonly [string, Envelope])[] = [
    ['a result that does not say so', resource(unknown)],
    ['a later attempt, of a release that keeps the field', resource({ ...tried, lastAttemptTime: at(0) })],
    ['a claim without a result', resource({ ...tried, phase: 'Progressing' })],
    ['a request that was withdrawn', resource({ ...tried, startedAt: '2026-03-01T10:00:00.123456Z' })],
  ]
  for (const [what, envelope] of rows) t.ok(mayBeOnBranch(envelope), what)
})
