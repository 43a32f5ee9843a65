import type { Change, FileChange } from '../../domain/commit/change.ts'
import { Failure } from '../../domain/failure.ts'
import type { NewFile } from '../remote.ts'
import { blobName, pathsTo, type Tree, type TreeEntry } from '../tree.ts'

/** What one change needs on top of the tip and of the changes before it. */
export type Step<C> =
  /** One commit of these files, which are those that differ; an existing file keeps its mode. */
  | { readonly kind: 'edit'; readonly of: C; readonly files: readonly NewFile[] }
  /** All contents are already there. */
  | { readonly kind: 'unchanged'; readonly of: C }
  /** `early`: it conflicts only with changes before it in the batch. */
  | { readonly kind: 'conflict'; readonly of: C; readonly failure: Failure; readonly early: boolean }

const DIRECTORY: TreeEntry = { mode: '040000', oid: '' }

/** Plans the batch in its order, each change on top of those before it. Pure. */
export function planSteps<C extends { readonly change: Change }>(
  tip: Tree,
  batch: readonly C[],
): readonly Step<C>[] {
  const now = new Map(tip)
  return batch.map((of) => {
    const planned = planChange(now, of.change)
    if (planned instanceof Failure) {
      const alone = planChange(tip, of.change)
      const early = !(alone instanceof Failure)
      return { kind: 'conflict', of, failure: early ? planned : alone, early }
    }
    if (planned.files.length === 0) return { kind: 'unchanged', of }
    for (const [path, entry] of planned.entries) now.set(path, entry)
    return { kind: 'edit', of, files: planned.files }
  })
}

interface PlannedChange {
  /** Those that differ from the tree. */
  readonly files: readonly NewFile[]
  /** The entries of the tree that change. */
  readonly entries: Tree
}

/** One file after the other, each on top of those before it: one that cannot be written fails the whole change. */
function planChange(tree: Tree, { files, repository }: Change): PlannedChange | Failure {
  const entries = new Map<string, TreeEntry>()
  const planned: NewFile[] = []
  for (const file of files) {
    const at = (path: string): TreeEntry | undefined => entries.get(path) ?? tree.get(path)
    const obstacle = findObstacle(at, file.path)
    if (obstacle !== undefined) return conflict(file, repository.text, obstacle)
    const { mode, oid } = entryFor(file, at(file.path))
    if (at(file.path)?.oid === oid) continue
    for (const path of pathsTo(file.path)) entries.set(path, path === file.path ? { mode, oid } : DIRECTORY)
    planned.push({ path: file.path, mode, content: file.content })
  }
  return { files: planned, entries }
}

function entryFor({ content }: FileChange, before: TreeEntry | undefined): TreeEntry {
  return { mode: before?.mode === '100755' ? '100755' : '100644', oid: blobName(content) }
}

interface Obstacle {
  readonly at: string
  readonly is: string
}

// git fast-import would replace each of these without an error.
function findObstacle(at: (path: string) => TreeEntry | undefined, path: string): Obstacle | undefined {
  for (const part of pathsTo(path)) {
    const is = kindOf(at(part)?.mode, part === path)
    if (is !== undefined) return { at: part, is }
  }
  return undefined
}

function conflict({ path }: FileChange, url: string, { at, is }: Obstacle): Failure {
  const where = at === path ? 'it' : `"${at}"`
  return new Failure(
    'PathConflict',
    `The path "${path}" cannot be written in ${url}, because ${where} is a ${is} there; choose another path, or remove what is in the way.`,
  )
}

function kindOf(mode: string | undefined, last: boolean): string | undefined {
  if (mode === undefined) return undefined
  if (mode === '120000') return 'symbolic link'
  if (mode === '160000') return 'submodule'
  if (mode === DIRECTORY.mode) return last ? 'directory' : undefined
  return last ? undefined : 'file'
}
