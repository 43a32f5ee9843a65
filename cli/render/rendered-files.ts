import { commitObject } from '../../functions/commit/commit-object.ts'
import { readFiles } from '../../functions/commit/files.ts'
import { asFailure, Failure } from '../../functions/domain/failure.ts'
import type { FileChange } from '../../functions/domain/commit/change.ts'
import type { SoundGitCommit } from '../../functions/domain/schema/parse.ts'
import { authorise } from '../../functions/login/authorise.ts'
import type { Preview } from '../../functions/git/writer/preview.ts'
import type { World } from '../../functions/world.ts'
import type { Site } from '../local/site.ts'

/** A file of a commit: on the branch, as far as that was read, and in the commit; undefined: it is not there. */
export interface RenderedFile {
  readonly path: string
  readonly before: Uint8Array | undefined
  readonly after: Uint8Array | undefined
}

/**
 * The files as an attempt makes them. The branch is read for a comparison, and where a file of it is edited; otherwise
 * neither the Secret nor the remote is touched.
 * @throws Failure as an attempt does
 */
export async function renderFiles(
  resource: SoundGitCommit,
  site: Site,
  compared: boolean,
): Promise<readonly RenderedFile[]> {
  if (compared) return preview(resource, site)
  const files = await readAll(resource, site)
  if (files.some(({ edit }) => edit !== undefined)) return preview(resource, site)
  return files.map(({ path, content }) => ({ path, before: undefined, after: content }))
}

async function readAll(resource: SoundGitCommit, { world, attempt }: Site): Promise<readonly FileChange[]> {
  const { signal } = attempt(false)
  const { verdict } = await authorise(resource, world, signal)
  const { namespace } = resource.metadata
  return readFiles(resource, {
    cluster: world.cluster,
    served: verdict.served,
    saw: () => undefined,
    signal,
    share: (work) => world.workFor(namespace, work, signal),
    large: world.largeObjects,
    setFields: (before, edit) => world.editFile(before, edit, { namespace, signal }),
  })
}

/** An attempt whose push is the look at what it would do. */
async function preview(resource: SoundGitCommit, site: Site): Promise<readonly RenderedFile[]> {
  const attempt = site.attempt(false)
  let seen: Preview | undefined
  const world: World = {
    ...site.world,
    async push(change, login) {
      seen = await site.git.preview(change, login, attempt.signal)
      if (seen.files instanceof Failure) throw seen.files
      return { outcome: 'unchanged', sha: '', branch: seen.branch }
    },
  }
  const failure = await commitObject(resource, world, attempt).then(() => undefined, asFailure)
  if (failure !== undefined) throw failure
  return seen === undefined || seen.files instanceof Failure ? [] : seen.files
}
