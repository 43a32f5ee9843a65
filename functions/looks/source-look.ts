import type { Cluster } from '../cluster/cluster.ts'
import { writtenReferences } from '../domain/commit/references.ts'
import { sourceDigest } from '../domain/commit/source-digest.ts'
import type { ObjectMeta, ReferenceField } from '../domain/resource/resource.ts'
import type { Parsed } from '../domain/schema/parse.ts'
import { look, objectNamed } from './look.ts'

/** Sources of one follower that are looked at at the same time. */
const SIDE_BY_SIDE = 8

/**
 * Looks at the sources of a follower, each object once, by its metadata alone. Returns their digest, as an attempt makes it of what
 * it reads; undefined where the spec cannot be read. Throws a Failure if the API server does not say.
 */
export async function lookAtSources(
  parsed: Parsed,
  { uid, namespace }: Pick<ObjectMeta, 'uid' | 'namespace'>,
  cluster: Pick<Cluster, 'discover' | 'readVersion'>,
): Promise<string | undefined> {
  if (!parsed.sound || parsed.kind !== 'GitCommit') return undefined
  const fields = Map.groupBy(
    writtenReferences(parsed.spec).map(({ field }) => field),
    (field) => JSON.stringify(objectNamed(field, namespace, parsed)),
  )
  const waiting = [...fields.values()]
  const sightings = new Map<ReferenceField, string>()

  async function lookInTurn(): Promise<void> {
    for (let same = waiting.shift(); same !== undefined; same = waiting.shift()) {
      const named = same[0] && objectNamed(same[0], namespace, parsed)
      if (named === undefined) continue
      const version = await look(named, cluster)
      for (const field of same) sightings.set(field, version)
    }
  }

  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, lookInTurn))
  return sourceDigest(uid, parsed.spec, sightings)
}
