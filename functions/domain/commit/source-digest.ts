import { createHash } from 'node:crypto'
import type { GitCommitSpec } from '../spec/spec.ts'
import { MISSING, type Sightings } from '../resource/waiting.ts'
import { writtenReferences } from './references.ts'

/**
 * Digest of the sources of a follower, 16 hex digits: of the version (uid and resourceVersion) of each object that its spec
 * refers to, in the order of the spec. Who cannot read the objects learns nothing from it, because nobody guesses a uid.
 * `uid`: of the follower. A source without a sighting counts as missing.
 */
export function sourceDigest(uid: string, spec: GitCommitSpec, sightings: Sightings): string {
  const versions = writtenReferences(spec).map(({ field }) => sightings.get(field) ?? MISSING)
  return createHash('sha256')
    .update(`commitlet.dev/v1 sources\n${JSON.stringify([uid, ...versions])}`)
    .digest('hex')
    .slice(0, 16)
}
