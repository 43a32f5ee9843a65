import { Failure } from '../domain/failure.ts'
import type { ChangeDraft, FileChange } from '../domain/commit/change.ts'
import { writtenPaths } from '../domain/commit/written-paths.ts'
import type { ServedKind } from '../domain/gate/access.ts'
import { renderManifest } from '../domain/manifest/manifest.ts'
import type { GitCommit } from '../domain/resource/resource.ts'
import type { World } from '../world.ts'

/** The files that the commit changes, without their contents. */
export function filesOf({ spec }: GitCommit): ChangeDraft['files'] {
  return writtenPaths(spec).map(({ path }) => ({ path }))
}

/**
 * The files with their contents: at present one, the manifest of the referenced object as it is now. Throws
 * ReferenceNotFound if the cluster does not serve its kind, and what reading and rendering throw.
 */
export async function readFiles(
  resource: GitCommit,
  served: ServedKind | undefined,
  world: World,
): Promise<readonly FileChange[]> {
  const { path } = resource.spec.resourceRef
  return [{ path, content: await readManifest(resource, served, world) }]
}

async function readManifest(
  resource: GitCommit,
  served: ServedKind | undefined,
  { cluster }: World,
): Promise<Uint8Array> {
  const { resourceRef } = resource.spec
  if (served === undefined) {
    const message = `The cluster does not know the kind ${resourceRef.kind} of ${resourceRef.apiVersion} (yet); install it or fix spec.resourceRef.`
    throw new Failure('ReferenceNotFound', message)
  }
  const reference = { ...resourceRef, namespace: resourceRef.namespace ?? resource.metadata.namespace }
  const text = await cluster.readObject(reference, served)
  const expected = { ...reference, namespace: served.namespaced ? reference.namespace : undefined }
  return renderManifest(text, expected, reference.path)
}
