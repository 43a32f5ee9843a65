import t from 'tap'
import { applyDetails, detailsLeft } from '../../functions/pull-request/details.ts'
import { Failure } from '../../functions/domain/failure.ts'
import type { FailureReason } from '../../functions/domain/reasons.ts'
import type { Condition } from '../../functions/domain/resource/stored-status.ts'
import type { PullRequestSpec } from '../../functions/domain/spec/spec.ts'
import { pullRequest } from '../domain/fixtures/pullrequest.ts'
import { memoryPullRequests } from '../harness/memory-pull-requests.ts'
import type { MemoryPullRequests } from '../harness/memory-pull-requests.ts'

const ALL = { labels: ['settings'], reviewers: ['dev'], assignees: ['ops'] }

function go(host: MemoryPullRequests, spec: Partial<PullRequestSpec>, conditions?: readonly Condition[]) {
  if (host.held.length === 0) host.hold()
  const status = { observedGeneration: 2, phase: 'Progressing', ...(conditions && { conditions }) } as const
  return applyDetails(1, pullRequest(spec, { generation: 2, status }), host)
}

function condition(more: Partial<Condition> = {}): Condition {
  const words = { reason: 'Applied', message: 'm', lastTransitionTime: '2026-03-01T10:00:00Z' }
  return { type: 'DetailsApplied', status: 'True', observedGeneration: 2, ...words, ...more }
}

t.test('all that the spec names is added', async (t) => {
  const host = memoryPullRequests()
  t.match(await go(host, ALL), { applied: 'True', reason: 'Applied' })
  t.match(host.held, [{ details: ALL }])
  t.strictSame(host.calls, ['add labels', 'add reviewers', 'add assignees'])
})

t.test('what the spec does not name is not requested', async (t) => {
  const host = memoryPullRequests()
  t.equal(await go(host, {}), undefined)
  t.equal(await go(host, { labels: [], reviewers: [], assignees: [] }), undefined)
  await go(host, { labels: [], reviewers: ['dev'] })
  t.strictSame(host.calls, ['add reviewers'])
})

t.test('what was applied for this generation is not applied again', async (t) => {
  const host = memoryPullRequests()
  t.equal(await go(host, ALL, [condition()]), 'as before')
  t.strictSame(host.calls, [])
  for (const before of [
    condition({ observedGeneration: 1 }),
    condition({ status: 'False' }),
    condition({ type: 'Ready' }),
  ]) {
    t.match(await go(host, ALL, [before]), { applied: 'True' })
    t.equal(host.calls.splice(0).length, 3)
  }
})

t.test('users that the host does not know are named, the others are added', async (t) => {
  const host = memoryPullRequests()
  t.match(await go(host, { ...ALL, reviewers: ['dev', 'stranger'], assignees: ['nobody'] }), {
    applied: 'False',
    reason: 'NotApplied',
    message:
      'The host does not know stranger. The host does not know nobody. When that is fixed, request the PullRequest again (annotation commitlet.dev/requested-at), or add them manually.',
  })
  t.match(host.held, [{ details: { labels: ['settings'], reviewers: ['dev'], assignees: [] } }])
})

/** A host where adding labels fails. */
function failing(error: unknown): MemoryPullRequests {
  const host = memoryPullRequests()
  host.before = (verb) => {
    if (verb === 'add labels') throw error
  }
  return host
}

t.test('what the token may not do is reported, and the rest is done', async (t) => {
  const host = failing(new Failure('PermissionDenied', 'The token lacks "issues=write"; give it that.'))
  t.match(await go(host, ALL), {
    applied: 'False',
    message:
      /^The labels could not be added \(PermissionDenied\): The token lacks "issues=write"; give it that\. When that is fixed/,
  })
  t.match(host.held, [{ details: { ...ALL, labels: [] } }])
})

const ENDINGS: readonly (readonly [spec: Partial<PullRequestSpec>, rest: string])[] = [
  [ALL, '; the reviewers and assignees were not tried.'],
  [{ ...ALL, reviewers: [] }, '; the assignees were not tried.'],
  [{ labels: ['settings'] }, '.'],
]

t.test('a temporary failure ends it with a report of what is left, and promises no retry', async (t) => {
  for (const reason of ['RateLimited', 'Timeout', 'ProviderUnavailable'] as const satisfies FailureReason[]) {
    for (const [spec, rest] of ENDINGS) {
      const host = failing(new Failure(reason, 'Not now; Commitlet retries automatically.'))
      t.match(await go(host, spec), {
        applied: 'False',
        reason: 'NotApplied',
        message: `The labels could not be added (${reason})${rest} When that is fixed, request the PullRequest again (annotation commitlet.dev/requested-at), or add them manually.`,
      })
      t.strictSame(host.calls, ['add labels'])
    }
  }
})

t.test('a bug is a bug', async (t) => {
  await t.rejects(go(failing(new TypeError('undefined is not a function')), ALL), TypeError)
})

t.test("details of another user's pull request are left as they are", async (t) => {
  t.match(detailsLeft(pullRequest(ALL)), { applied: 'False', reason: 'NotOurs' })
  t.equal(detailsLeft(pullRequest()), undefined)
})
