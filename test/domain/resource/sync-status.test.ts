import t from 'tap'
import { mayPushLate } from '../../../functions/domain/resource/attempt-state.ts'
import type { Envelope } from '../../../functions/domain/resource/resource.ts'
import type { Status, SyncStatus } from '../../../functions/domain/resource/stored-status.ts'
import { claimed, failed, succeeded } from '../../../functions/domain/resource/status.ts'
import { committing } from '../../../functions/domain/resource/sync-status.ts'
import { Failure } from '../../../functions/domain/failure.ts'
import { resource } from '../fixtures/envelope.ts'

const NOW = new Date('2026-03-01T10:00:00Z')
const TERMS = { now: NOW, random: 0.5, limit: 12 }
const OUTCOME = { message: 'Committed.', credentialsUsed: 'Primary' } as const

function follower(status?: Status, generation = 1): Envelope {
  return { ...resource(status, { generation }), follows: { intervalSeconds: 600 } }
}

function syncOf(status: Status): SyncStatus | undefined {
  return status.sync
}

t.test(
  'what is committed is in the claim, stays after a failure, and is over with the success',
  async (t) => {
    const first = committing(claimed(follower(), TERMS), 'a')
    t.same(syncOf(first), { commits: 0, committing: 'a' })
    const after = failed(follower(first), new Failure('NetworkError', 'x'), TERMS)
    t.same(syncOf(after), { commits: 0, committing: 'a' })
    const again = claimed(follower(after), TERMS)
    t.same(syncOf(again), { commits: 0, committing: 'a' })
    const done = succeeded(follower(again), { ...OUTCOME, reason: 'Succeeded', sources: 'a' }, NOW)
    t.same(syncOf(done), { commits: 1, digest: 'a', seenTime: '2026-03-01T10:00:00Z' })
    const next = committing(claimed(follower(done), TERMS), 'b')
    t.match(syncOf(next), { commits: 1, digest: 'a', committing: 'b' })
    const same = succeeded(follower(next), { ...OUTCOME, reason: 'UpToDate', sources: 'b' }, NOW)
    t.same(syncOf(same), { commits: 1, digest: 'b', seenTime: '2026-03-01T10:00:00Z' })
  },
)

t.test('another request forgets what was being committed, and keeps the count', async (t) => {
  const before: Status = {
    observedGeneration: 1,
    phase: 'Progressing',
    sync: { commits: 3, committing: 'a' },
  }
  t.same(syncOf(claimed(follower(before, 2), TERMS)), { commits: 3 })
})

t.test('a resource that follows no more tells nothing', async (t) => {
  const before: Status = { observedGeneration: 1, phase: 'Succeeded', sync: { commits: 3, digest: 'a' } }
  const now = claimed(resource(before, { generation: 2 }), TERMS)
  t.equal(syncOf(now), undefined)
  t.equal(
    syncOf(succeeded(resource(now, { generation: 2 }), { ...OUTCOME, reason: 'Succeeded' }, NOW)),
    undefined,
  )
})

t.test('a follower whose claim has not told what it commits has pushed nothing', async (t) => {
  const status: Status = { observedGeneration: 1, phase: 'Progressing' }
  const sync: SyncStatus = { commits: 1, committing: 'a' }
  t.notOk(mayPushLate(follower(status)))
  t.ok(mayPushLate(follower({ ...status, sync })))
  t.ok(mayPushLate(follower({ ...status, latePush: true })), 'an earlier one has')
  t.ok(mayPushLate(follower(status, 2)), 'the claim may be of a spec that did not follow')
  t.ok(mayPushLate(resource(status)))
})
