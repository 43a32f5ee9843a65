import type { Cluster } from '../cluster/cluster.ts'
import { writtenReferences } from '../domain/commit/references.ts'
import { sourceDigest } from '../domain/commit/source-digest.ts'
import type { ObjectMeta } from '../domain/resource/resource.ts'
import type { ReferenceField } from '../domain/spec/spec.ts'
import type { Parsed } from '../domain/schema/parse.ts'
import { look, objectIn } from './look.ts'
import type { LookShare } from './look-share.ts'

/** Sources of one follower that are looked at at the same time. */
const SIDE_BY_SIDE = 8

/** How sources are looked at. */
export interface SourceLooks {
  readonly cluster: Pick<Cluster, 'discover' | 'readVersion'>
  readonly shareLook: LookShare
}

/**
 * Looks at the sources of a follower, each object once, by its metadata alone. Returns their digest, as an attempt makes it of what
 * it reads; undefined where the spec cannot be read. Throws a Failure if the API server does not say.
 */
export async function lookAtSources(
  parsed: Parsed,
  { uid, namespace }: Pick<ObjectMeta, 'uid' | 'namespace'>,
  { cluster, shareLook }: SourceLooks,
): Promise<string | undefined> {
  if (!parsed.sound || parsed.kind !== 'GitCommit') return undefined
  // A follower may have a thousand references: the list is made once.
  const sources = Map.groupBy(writtenReferences(parsed.spec), ({ reference }) =>
    JSON.stringify(objectIn(reference, namespace)),
  )
  const waiting = [...sources.values()]
  const sightings = new Map<ReferenceField, string>()

  async function lookInTurn(): Promise<void> {
    for (let same = waiting.shift(); same !== undefined; same = waiting.shift()) {
      const named = objectIn(same[0]?.reference, namespace)
      if (named === undefined) continue
      const by = { namespace, apiVersion: named.apiVersion }
      const version = await shareLook(by, () => look(named, namespace, cluster)).catch((error: unknown) => {
        // Nothing comes of the others.
        waiting.length = 0
        throw error
      })
      for (const { field } of same) sightings.set(field, version)
    }
  }

  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, lookInTurn))
  return sourceDigest(uid, parsed.spec, sightings)
}
