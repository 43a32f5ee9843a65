import type { Change } from '../../domain/commit/change.ts'
import { Failure } from '../../domain/failure.ts'
import { blobName, pathsTo, type Tree, type TreeEntry } from '../tree.ts'

/** What becomes of one change on top of the tip and of the changes before it. */
export type Step<C> =
  /** One commit; `mode` is the file's, kept where there is one. */
  | { readonly kind: 'edit'; readonly of: C; readonly mode: string }
  /** The content is there already. */
  | { readonly kind: 'unchanged'; readonly of: C }
  /** `early`: only the changes before it in the batch are in its way. */
  | { readonly kind: 'conflict'; readonly of: C; readonly failure: Failure; readonly early: boolean }

const DIRECTORY: TreeEntry = { mode: '040000', oid: '' }

/** Works the batch out in its order, each change on top of those before it. Pure. */
export function planSteps<C extends { readonly change: Change }>(
  tip: Tree,
  batch: readonly C[],
): readonly Step<C>[] {
  const now = new Map(tip)
  return batch.map((of) => {
    const { change } = of
    const failure = findConflict(now, change)
    if (failure !== undefined)
      return { kind: 'conflict', of, failure, early: findConflict(tip, change) === undefined }
    const mode = now.get(change.path)?.mode === '100755' ? '100755' : '100644'
    const oid = blobName(change.content)
    if (now.get(change.path)?.oid === oid) return { kind: 'unchanged', of }
    for (const path of pathsTo(change.path)) now.set(path, path === change.path ? { mode, oid } : DIRECTORY)
    return { kind: 'edit', of, mode }
  })
}

// git fast-import would silently replace each of these.
function findConflict(tree: Tree, change: Change): Failure | undefined {
  const { path, repository } = change
  const found = pathsTo(path).map((at) => ({ at, is: kindOf(tree.get(at)?.mode, at === path) }))
  const bad = found.find(({ is }) => is !== undefined)
  if (bad === undefined) return undefined
  const where = bad.at === path ? 'it' : `"${bad.at}"`
  return new Failure(
    'PathConflict',
    `The path "${path}" cannot be written in ${repository.text}, because ${where} is a ${bad.is ?? ''} there; choose another path, or remove what is in the way.`,
  )
}

function kindOf(mode: string | undefined, last: boolean): string | undefined {
  if (mode === undefined) return undefined
  if (mode === '120000') return 'symbolic link'
  if (mode === '160000') return 'submodule'
  if (mode === DIRECTORY.mode) return last ? 'directory' : undefined
  return last ? undefined : 'file'
}
