import { createSecretKey, type KeyObject } from 'node:crypto'
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
const KEY = createSecretKey(Buffer.alloc(32, 'k'))

/** A world with this key, and what its tests do. */
function stage(stampKey: KeyObject | undefined) {
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

/**
 * The status where the answer to the push of the last of these requests was lost, and then the commit of the first spec is
 * found. `isRemoved`: the annotation was removed meanwhile.
 */
async function statusAfter(values: readonly string[], isRemoved: boolean) {
  const { cluster, ...world } = memoryWorld()
  const sha = 'a'.repeat(40)
  let now = world.now()
  async function attempt(value: string | undefined, push: typeof world.push): Promise<void> {
    cluster.apply(gitCommit({}, value === undefined ? {} : { [REQUESTED_AT]: value }))
    now = new Date(now.getTime() + 60_000)
    const inWorld = { ...world, cluster, push, now: () => now }
    await handle(REF, finder(cluster, { reads: 8, waits: 8 }), inWorld)
  }
  const requests = [undefined, ...values]
  const last = requests.pop()
  for (const value of requests)
    await attempt(value, async () => ({ outcome: 'pushed', sha: value ?? sha, branch: 'main' }))
  await attempt(last, async (_change, _login, { pushWatch }) => {
    pushWatch?.sent()
    throw new Failure('NetworkError', 'The connection broke.')
  })
  await attempt(isRemoved ? undefined : last, async () => ({ outcome: 'found', sha, branch: 'main' }))
  return envelopeOf(cluster.get('GitCommit', 'team', 'shop')).status
}

for (const [title, values, isRemoved, latePush] of [
  ['a late push is forgotten where its commit is found', [], false, undefined],
  ['so is that of a requested-at', ['release-2'], false, undefined],
  ['a late push of a requested-at that was removed is remembered', ['release-2'], true, true],
  ['so it is where another request was between', ['release-2', 'release-3'], true, true],
] as const) {
  t.test(title, async (t) => {
    const status = await statusAfter(values, isRemoved)
    t.match(status, { phase: 'Succeeded', commit: { sha: 'a'.repeat(40) } })
    t.equal(status?.latePush, latePush)
  })
}
