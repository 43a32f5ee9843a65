import t from 'tap'
import { sourceDigest } from '../../../functions/domain/commit/source-digest.ts'
import type { GitCommitSpec, ReferenceField } from '../../../functions/domain/spec/spec.ts'
import { MISSING } from '../../../functions/domain/resource/waiting.ts'

const MAP = { apiVersion: 'v1', kind: 'ConfigMap', name: 'settings' }
const SPEC: GitCommitSpec = {
  repository: 'https://git.example.com/acme/shop.git',
  message: 'x',
  files: [
    { path: 'a', resourceRef: MAP },
    { path: 'b', content: 'text' },
    { path: 'c', set: [{ field: '.a', valueFrom: { resourceRef: { ...MAP, field: '.data.a' } } }] },
  ],
}
const FIRST: ReferenceField = 'spec.files[0].resourceRef'
const SECOND: ReferenceField = 'spec.files[2].set[0].valueFrom.resourceRef'

function digest(first: string | undefined, second: string | undefined, uid = 'uid'): string {
  const seen = [[FIRST, first] as const, [SECOND, second] as const]
  return sourceDigest(
    uid,
    SPEC,
    new Map(seen.flatMap(([field, version]) => (version ? [[field, version]] : []))),
  )
}

t.test(
  'the digest depends on every version, their order and the follower, and on nothing else',
  async (t) => {
    t.match(digest('u/1', 'v/2'), /^[0-9a-f]{16}$/)
    t.equal(digest('u/1', 'v/2'), digest('u/1', 'v/2'))
    const others = [
      digest('v/2', 'u/1'),
      digest('u/2', 'v/2'),
      digest('u/1', 'v/3'),
      digest('u/1', undefined),
      digest('u/1', 'v/2', 'other'),
    ]
    t.equal(new Set([digest('u/1', 'v/2'), ...others]).size, 6)
    t.equal(digest('u/1', undefined), digest('u/1', MISSING))
  },
)
