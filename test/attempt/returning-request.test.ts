import t from 'tap'
import { handle } from '../../functions/attempt/attempt.ts'
import { finder } from '../../functions/attempt/find.ts'
import type { Change } from '../../functions/domain/commit/change.ts'
import { COMMIT_ID_TRAILER } from '../../functions/domain/commit/commit-id.ts'
import { COMMIT_SEAL_TRAILER, commitSeal } from '../../functions/domain/commit/commit-seal.ts'
import { trailerValues } from '../../functions/domain/commit/trailers.ts'
import { envelopeOf } from '../../functions/domain/resource/envelope.ts'
import { Failure } from '../../functions/domain/failure.ts'
import { sign } from '../../functions/domain/requester/signature.ts'
import { signedOf } from '../../functions/domain/requester/stamp.ts'
import { isFor } from '../../functions/git/past-commit.ts'
import { gitCommit, memoryWorld, STAMPED } from '../harness/memory-world.ts'

// A value of requested-at that comes back at the same generation, as after a rollback, is another request: what it has to
// commit is not what the first one has committed. Both have the same Commitlet-Id.

const REF = { kind: 'GitCommit', namespace: 'team', name: 'shop' } as const
const REQUESTED_AT = 'commitlet.dev/requested-at'
const KEY = Buffer.alloc(32, 'k')

/** A world with this key, and what its tests do. */
function stage(stampKey: Uint8Array | undefined) {
  const world = memoryWorld()
  const settings = { ...world.settings, stampKey }
  let now = world.now()
  return {
    world,
    request: (value: string): void => {
      const signed = signedOf(gitCommit({}, { [REQUESTED_AT]: value }), 'team', STAMPED)
      const signature = sign(signed, KEY)
      world.cluster.apply(
        gitCommit({}, { [REQUESTED_AT]: value, 'commitlet.dev/requester-signature': signature }),
      )
    },
    /** An attempt that pushes, or fails. Returns its change. */
    attempt: async (fails = false): Promise<Change> => {
      world.land = async () => {
        if (fails) throw new Failure('ProviderUnavailable', 'The host answers 503.')
        return { outcome: 'pushed', sha: 'a'.repeat(40), branch: 'main' }
      }
      const before = world.pushed.length
      await handle(REF, finder(world.cluster, { reads: 8, waits: 8 }), { ...world, settings, now: () => now })
      const [pushed, more] = world.pushed.slice(before)
      if (pushed === undefined || more !== undefined) throw new Error('not one push')
      return pushed.change
    },
    later: () => void (now = new Date(now.getTime() + 60_000)),
  }
}

/** Whether a search for the one finds the commit of the other. */
function finds(sought: Change, { message }: Change): boolean {
  const [ids, seals] = [COMMIT_ID_TRAILER, COMMIT_SEAL_TRAILER].map((key) => trailerValues(message, key))
  return isFor(
    { ids: ids ?? [], seals: seals ?? [] },
    { ...sought, paths: sought.files.map(({ path }) => path) },
  )
}

for (const [title, key] of [
  ['a value of requested-at that comes back is another request', KEY],
  ['without a key as well, a value of requested-at that comes back is another request', undefined],
] as const) {
  t.test(title, async (t) => {
    const { request, attempt, later } = stage(key)
    request('release-1')
    const first = await attempt()
    request('release-2')
    await attempt()
    request('release-1')
    const failed = await attempt(true)
    t.equal(failed.since, undefined)
    later()
    const retried = await attempt(true)
    later()
    const last = await attempt()
    t.equal(last.id, first.id)
    t.not(last.since, undefined, 'a retry searches')
    t.notOk(finds(last, first), 'not for the commit of the first request')
    t.ok(finds(last, failed) && finds(last, retried), 'but for those of its own attempts')
  })
}

t.test('while replicas of two versions run, each finds what the other has pushed', async (t) => {
  const { world, request, attempt, later } = stage(KEY)
  request('release-1')
  const pushed = await attempt(true)
  const { id, repository, branch } = pushed
  const older = commitSeal({ id, repository: repository.text, branch }, KEY)
  t.ok(finds({ ...pushed, seals: [older] }, pushed), 'the older version has seals without a start')
  const stored = envelopeOf(world.cluster.get('GitCommit', 'team', 'shop'))
  if (stored.status === undefined) throw new Error('no status')
  // As the older version begins a request.
  await world.cluster.patchStatus(stored, { ...stored.status, startedAt: '2026-03-01T10:00:00Z' })
  later()
  const retried = await attempt()
  const message = `Record\n\n${COMMIT_ID_TRAILER}: ${id}\n${COMMIT_SEAL_TRAILER}: ${older}\n`
  t.ok(finds(retried, { ...retried, message }))
})

for (const [title, sha, latePush] of [
  ['a late push is remembered where the commit of an earlier request is found', 'a'.repeat(40), true],
  ['a late push is forgotten where its commit is found', 'b'.repeat(40), undefined],
] as const) {
  t.test(title, async (t) => {
    const world = memoryWorld()
    const send = (): Promise<void> => handle(REF, finder(world.cluster, { reads: 8, waits: 8 }), world)
    world.cluster.apply(gitCommit())
    await send()
    const before = envelopeOf(world.cluster.get('GitCommit', 'team', 'shop'))
    if (before.status === undefined) throw new Error('no status')
    // The answer to the push of a requested-at was lost, and the annotation was removed.
    const lost = { phase: 'Retrying', latePush: true, lastHandledRequestedAt: 'release-2' } as const
    await world.cluster.patchStatus(before, { ...before.status, ...lost })
    world.land = () => Promise.resolve({ outcome: 'found', sha, branch: 'main' })
    await send()
    t.not(world.pushed[1]?.change.since, undefined, 'it was searched for')
    const { status } = envelopeOf(world.cluster.get('GitCommit', 'team', 'shop'))
    t.match(status, { phase: 'Succeeded', commit: { sha }, latePush })
  })
}
