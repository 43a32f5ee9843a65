import type { FileChange } from '../domain/commit/change.ts'
import { sourceDigest } from '../domain/commit/source-digest.ts'
import { Failure } from '../domain/failure.ts'
import type { Sightings } from '../domain/resource/waiting.ts'
import type { SoundGitCommit } from '../domain/schema/parse.ts'

/**
 * Of a follower whose files were read, the digest of the sources that it has read them from.
 * @throws NotSupported if one of them has no version by which its changes could be seen
 */
export function sourcesRead(
  { metadata, spec }: SoundGitCommit,
  files: readonly FileChange[] | Failure,
  sightings: Sightings,
): string | undefined {
  if (spec.sync !== 'OnChange' || files instanceof Failure) return undefined
  const unversioned = [...sightings].find(([, version]) => version.startsWith('/') || version.endsWith('/'))
  if (unversioned === undefined) return sourceDigest(metadata.uid, spec, sightings)
  const message = `The object of ${unversioned[0]} has no resourceVersion, so its changes cannot be seen; leave out spec.sync, or refer to an object that is stored in the cluster.`
  throw new Failure('NotSupported', message)
}

/** What an earlier attempt may have pushed; `sources`: of a follower, the digest of what it was committing. */
export interface Earlier {
  /** Undefined: nothing that has to be searched for. */
  readonly searched: { readonly sources: string | undefined } | undefined
  /** It would be the commit that is about to be pushed, whose own search finds it. */
  readonly isSame: boolean
}

/** `again`: whether an earlier attempt at this request may have pushed; `sources`: what was read now. */
export function earlierOf(
  { spec, status }: SoundGitCommit,
  { again, sources }: { readonly again: boolean; readonly sources: string | undefined },
): Earlier {
  if (spec.sync !== 'OnChange') return { searched: again ? { sources: undefined } : undefined, isSame: again }
  const committing = again ? status?.sync?.committing : undefined
  if (committing === undefined) return { searched: undefined, isSame: false }
  return { searched: { sources: committing }, isSame: committing === sources }
}
