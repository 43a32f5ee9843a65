import t from 'tap'
import { earlierOf, sourcesRead } from '../../functions/commit/sources-read.ts'
import { sourceDigest } from '../../functions/domain/commit/source-digest.ts'
import { Failure } from '../../functions/domain/failure.ts'
import type { ReferenceField } from '../../functions/domain/spec/spec.ts'
import type { SyncStatus } from '../../functions/domain/resource/stored-status.ts'
import type { SoundGitCommit } from '../../functions/domain/schema/parse.ts'
import { parseResource } from '../domain/fixtures/parsed.ts'
import { gitCommit, memoryWorld } from '../harness/memory-world.ts'

function resource(spec: object, sync?: SyncStatus): SoundGitCommit {
  const parsed = parseResource(memoryWorld().cluster.apply(gitCommit({ ...spec })))
  if (parsed.kind !== 'GitCommit') throw new Error('not a GitCommit')
  if (sync === undefined) return parsed
  return { ...parsed, status: { observedGeneration: 1, phase: 'Progressing', sync } }
}

const FOLLOWER = { sync: 'OnChange' }
const SEEN = new Map<ReferenceField, string>([['spec.resourceRef', 'uid/7']])

t.test('a follower knows what it has read, and nobody else needs to', async (t) => {
  const follower = resource(FOLLOWER)
  t.equal(sourcesRead(follower, [], SEEN), sourceDigest(follower.metadata.uid, follower.spec, SEEN))
  t.equal(sourcesRead(follower, new Failure('ReferenceNotFound', 'x'), SEEN), undefined)
  t.equal(sourcesRead(resource({}), [], SEEN), undefined)
})

t.test('an object without a version cannot be followed', async (t) => {
  for (const version of ['/', 'uid/', '/7']) {
    const seen = new Map<ReferenceField, string>([['spec.resourceRef', version]])
    t.throws(() => sourcesRead(resource(FOLLOWER), [], seen), {
      reason: 'NotSupported',
      message: /spec.resourceRef/,
    })
    t.equal(sourcesRead(resource({}), [], seen), undefined)
  }
})

t.test('what is searched for in the history', async (t) => {
  const now = { again: true, sources: 'b' }
  t.same(earlierOf(resource({}), { ...now, again: false }), { searched: undefined, isSame: false })
  t.same(earlierOf(resource({}), now), { searched: { sources: undefined }, isSame: true })
  const none = { searched: undefined, isSame: false }
  t.same(earlierOf(resource(FOLLOWER), now), none)
  t.same(earlierOf(resource(FOLLOWER, { commits: 1, digest: 'a' }), now), none)
  const open = resource(FOLLOWER, { commits: 1, digest: 'a', committing: 'b' })
  t.same(earlierOf(open, { ...now, again: false }), none)
  t.same(earlierOf(open, now), { searched: { sources: 'b' }, isSame: true })
  t.same(earlierOf(open, { ...now, sources: 'c' }), { searched: { sources: 'b' }, isSame: false })
})
