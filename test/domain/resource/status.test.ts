import t from 'tap'
import { Failure } from '../../../functions/domain/failure.ts'
import type { Status } from '../../../functions/domain/resource/stored-status.ts'
import { mayHavePushed, requestStart } from '../../../functions/domain/resource/attempt-state.ts'
import { resource } from '../fixtures/envelope.ts'
import { kstatus } from '../../harness/kstatus.ts'
import { claimed, failed, succeeded } from '../../../functions/domain/resource/status.ts'

const NOW = new Date('2026-03-01T10:00:00.400Z')

const fresh: Status = { observedGeneration: -1, phase: 'Pending' }

const terms = (now: Date) => ({ now, random: 0.25 })

t.test('the first claim observes the generation and holds others off for 30 s', async (t) => {
  const status = claimed(resource(fresh, { generation: 3, requestedAt: 'now' }), terms(NOW))
  t.match(status, {
    observedGeneration: 3,
    lastHandledRequestedAt: 'now',
    phase: 'Progressing',
    attempts: 1,
    startedAt: '2026-03-01T10:00:00.250000Z',
    nextAttemptTime: '2026-03-01T10:00:31Z',
  })
  t.same(
    status.conditions?.map(({ type, status, observedGeneration }) => [type, status, observedGeneration]),
    [
      ['Ready', 'Unknown', 3],
      ['Reconciling', 'True', 3],
    ],
  )
})

t.test('a claim after a failure keeps what the user reads, and goes on counting', async (t) => {
  const first = { ...resource(fresh), status: claimed(resource(fresh), terms(NOW)) }
  const failure = new Failure('AuthenticationFailed', 'The token is refused.')
  const retrying = { ...first, status: failed(first, failure, { now: NOW, limit: 12, random: 0 }) }
  t.ok(mayHavePushed(retrying))
  const later = new Date(NOW.getTime() + 301_000)
  const again = claimed(retrying, terms(later))
  t.same(again.conditions, retrying.status.conditions)
  t.equal(again.attempts, 2)
  t.equal(again.startedAt, first.status.startedAt)
  t.equal(again.lastAttemptTime, '2026-03-01T10:05:01.250000Z')
})

t.test('a request by a value that comes back has another start, which its retries keep', (t) => {
  const first = claimed(resource(fresh, { requestedAt: 'one' }), terms(NOW))
  const other = claimed(resource(first, { requestedAt: 'two' }), { now: NOW, random: 0.5 })
  const again = claimed(resource(other, { requestedAt: 'one' }), { now: NOW, random: 0.75 })
  const starts = [first, other, again].map((status) => requestStart(resource(status, { requestedAt: 'one' })))
  t.same(
    starts,
    ['25', '50', '75'].map((fraction) => `2026-03-01T10:00:00.${fraction}0000Z`),
  )
  const kept = claimed(resource(again, { requestedAt: 'one' }), { now: NOW, random: 0.125 })
  t.equal(kept.attempts, 2)
  t.equal(kept.startedAt, again.startedAt)
  t.equal(requestStart(resource(first)), undefined, 'a generation never comes back')
  const older = { ...first, startedAt: '2026-03-01T10:00:00Z' }
  t.equal(requestStart(resource(older, { requestedAt: 'one' })), undefined)
  t.equal(requestStart(resource(undefined, { requestedAt: 'one' })), undefined)
  t.end()
})

t.test('a new generation counts from zero and cannot have pushed before', async (t) => {
  const old: Status = {
    observedGeneration: 1,
    phase: 'Retrying',
    attempts: 7,
    startedAt: '2026-01-01T00:00:00Z',
  }
  const envelope = resource(old, { generation: 2 })
  t.notOk(mayHavePushed(envelope))
  t.match(claimed(envelope, terms(NOW)), { attempts: 1, startedAt: '2026-03-01T10:00:00Z' })
})

t.test('kstatus reads every phase: at most one of Reconciling and Stalled is True', async (t) => {
  const claim = { ...resource(fresh), status: claimed(resource(fresh), terms(NOW)) }
  const end = { now: NOW, limit: 12, random: 0 }
  const outcome = {
    reason: 'Succeeded',
    message: 'Committed.',
    commit: { sha: 'a', shortSHA: 'a', branch: 'main', path: 'x' },
    credentialsUsed: 'Primary',
  } as const
  const cases: readonly (readonly [Status, string, string])[] = [
    [succeeded(claim, outcome, NOW), 'Succeeded', 'Ready=True'],
    [failed(claim, new Failure('Timeout', 'Late.'), end), 'Retrying', 'Ready=False Reconciling=True'],
    [failed(claim, new Failure('RepositoryNotFound', 'None.'), end), 'Retrying', 'Ready=False Stalled=True'],
    [failed(claim, new Failure('PushRejected', 'A hook.'), end), 'Failed', 'Ready=False Stalled=True'],
  ]
  for (const [status, phase, conditions] of cases) {
    t.equal(status.phase, phase)
    t.equal(
      status.conditions?.map((condition) => `${condition.type}=${condition.status}`).join(' '),
      conditions,
    )
  }
})

t.test('a budget that is used up names the last cause and ends', async (t) => {
  const claim = { ...resource(), status: { ...claimed(resource(fresh), terms(NOW)), attempts: 12 } }
  const status = failed(claim, new Failure('Timeout', 'It took too long.'), {
    now: NOW,
    limit: 12,
    random: 0,
  })
  t.equal(status.phase, 'Failed')
  t.equal(status.nextAttemptTime, undefined)
  t.match(status.conditions?.[0], {
    reason: 'RetryBudgetExhausted',
    message: 'Gave up after 12 attempts; the last one ended with Timeout: It took too long.',
  })
})

t.test(
  'where a limit was waited out for many attempts, one that fails otherwise is not the last',
  async (t) => {
    const end = { now: NOW, limit: 12, random: 0 }
    const first = { ...resource(), status: { ...claimed(resource(fresh), terms(NOW)), attempts: 13 } }
    const limited = { ...first, status: failed(first, new Failure('RateLimited', 'Slow down.'), end) }
    const claim = { ...limited, status: claimed(limited, terms(NOW)) }
    const next = { ...claim, status: failed(claim, new Failure('Timeout', 'Late.'), end) }
    t.match(next.status, { phase: 'Retrying', attempts: 14 })
    const last = { ...next, status: claimed(next, terms(NOW)) }
    t.match(failed(last, new Failure('Timeout', 'Late.'), end), { phase: 'Failed', attempts: 15 })
  },
)

t.test('where the clock of the API server was set back, the next attempt comes no later', async (t) => {
  for (const startedAt of ['2026-03-01T12:00:00Z', '9999-12-31T23:59:59Z']) {
    const claim = { ...resource(fresh), status: { ...claimed(resource(fresh), terms(NOW)), startedAt } }
    const status = failed(claim, new Failure('PermissionDenied', 'No.'), { now: NOW, limit: 12, random: 0 })
    t.match(status, { phase: 'Retrying', nextAttemptTime: '2026-03-01T10:05:01Z' })
  }
})

t.test('a transition time changes only with the status of its condition', async (t) => {
  const claim = { ...resource(fresh), status: claimed(resource(fresh), terms(NOW)) }
  const later = new Date(NOW.getTime() + 60_000)
  const status = failed(claim, new Failure('Timeout', 'Late.'), { now: later, limit: 12, random: 0 })
  t.same(
    status.conditions?.map((condition) => condition.lastTransitionTime),
    ['2026-03-01T10:01:00Z', '2026-03-01T10:00:00Z'],
  )
})

t.test('the last commit stays on show while a newer generation is tried', async (t) => {
  const commit = { sha: 'abc', shortSHA: 'abc', branch: 'main', path: 'x' }
  const old: Status = { observedGeneration: 1, phase: 'Succeeded', commit }
  const claim = claimed(resource(old, { generation: 2 }), terms(NOW))
  t.same(claim.commit, commit)
})

const PULL_REQUEST = { number: 7, url: 'https://git.example.com/acme/shop/pulls/7', state: 'open' } as const
const OPENED = {
  reason: 'Succeeded',
  message: 'Opened #7.',
  pullRequest: PULL_REQUEST,
  credentialsUsed: 'Primary',
  details: { applied: 'False', reason: 'NotApplied', message: 'The host does not know stranger.' },
} as const

/** What kstatus makes of a resource with this status. */
function read(status: Status, generation: number): string {
  const metadata = { ...resource().metadata, generation }
  return kstatus({ metadata, spec: {}, status: { ...status } })
}

t.test('a pull request and its details stay on show through claims and failures', async (t) => {
  const claim = { ...resource(fresh), status: claimed(resource(fresh), terms(NOW)) }
  const done = succeeded(claim, OPENED, NOW)
  t.match(done, { phase: 'Succeeded', pullRequest: PULL_REQUEST })
  t.equal(read(done, 1), 'Current', 'details that could not be applied hold nobody up')

  const details = done.conditions?.find(({ type }) => type === 'DetailsApplied')
  t.match(details, { status: 'False', reason: 'NotApplied', observedGeneration: 1 })
  const next = resource(done, { generation: 2 })
  const claimedAgain = { ...next, status: claimed(next, terms(NOW)) }
  t.strictSame(claimedAgain.status.conditions?.at(-1), details)
  t.strictSame(claimedAgain.status.pullRequest, PULL_REQUEST)
  t.equal(read(claimedAgain.status, 2), 'InProgress')

  for (const [reason, shown] of [
    ['Timeout', 'InProgress'],
    ['PermissionDenied', 'Failed'],
    ['PullRequestRejected', 'Failed'],
  ] as const) {
    const status = failed(claimedAgain, new Failure(reason, 'No.'), { now: NOW, limit: 12, random: 0 })
    t.strictSame(status.conditions?.at(-1), details)
    t.strictSame(status.pullRequest, PULL_REQUEST)
    t.equal(read(status, 2), shown, reason)
    const retried = { ...next, status }
    t.strictSame(claimed(retried, terms(NOW)).conditions?.at(-1), details)
  }
})

t.test('a closed or merged one says so, and the result of its details stays', async (t) => {
  const claim = { ...resource(fresh), status: claimed(resource(fresh), terms(NOW)) }
  const before = succeeded(claim, OPENED, NOW)
  const merged = { ...PULL_REQUEST, state: 'merged' } as const
  const outcome = { ...OPENED, reason: 'UpToDate', pullRequest: merged, details: 'as before' } as const
  const status = succeeded(resource(before, { generation: 2 }), outcome, NOW)
  t.match(status, { pullRequest: { number: 7, state: 'merged' } })
  t.strictSame(status.conditions?.at(-1), before.conditions?.at(-1))
})
