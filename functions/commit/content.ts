import { Failure } from '../domain/failure.ts'
import type { ServedKind } from '../domain/gate/access.ts'
import { renderManifest } from '../domain/manifest/manifest.ts'
import type { GitCommit } from '../domain/resource/resource.ts'
import type { World } from '../world.ts'

/**
 * The bytes that the commit holds: the referenced object, read now, as a manifest. Throws ReferenceNotFound where the
 * cluster does not serve its kind, and what reading and rendering throw.
 */
export async function readContent(
  resource: GitCommit,
  served: ServedKind | undefined,
  { cluster }: World,
): Promise<Uint8Array> {
  const { resourceRef } = resource.spec
  if (served === undefined) {
    const message = `The cluster does not know the kind ${resourceRef.kind} of ${resourceRef.apiVersion} (yet); install it or mend spec.resourceRef.`
    throw new Failure('ReferenceNotFound', message)
  }
  const reference = { ...resourceRef, namespace: resourceRef.namespace ?? resource.metadata.namespace }
  const text = await cluster.readObject(reference, served)
  const asked = { ...reference, namespace: served.namespaced ? reference.namespace : undefined }
  return renderManifest(text, asked, reference.path)
}
