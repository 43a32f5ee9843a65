import {
  CHANGE_BYTES,
  EDITED_BYTES,
  type Change,
  type FileChange,
  type FileEdit,
} from '../../domain/commit/change.ts'
import { asFailure, Failure } from '../../domain/failure.ts'
import type { NewFile, RemovedFile } from '../remote.ts'
import {
  blobName,
  DIRECTORY_MODE,
  entryBytes,
  LARGEST_DIRECTORY,
  pathsTo,
  ROOT,
  type Tree,
  type TreeEntry,
} from '../tree.ts'

/** What the branch holds, as far as the batch needs it. */
export interface Held {
  readonly tree: Tree
  /** A file of the tree by its object name; undefined: it has more than EDITED_BYTES. A Failure: it cannot be read. */
  readonly read: (oid: string) => Uint8Array | Failure | undefined
}

const MEBIBYTE = 1024 * 1024
const EXECUTABLE = '100755'
/** What others have written there, they may fix. */
const OF_THE_BRANCH = { retry: 'slow' } as const

/** What a change needs on top of what the branch holds. */
export interface PlannedChange {
  /** Those that differ from the tree. */
  readonly files: readonly (NewFile | RemovedFile)[]
  /** The entries of the tree that change; undefined: removed. */
  readonly entries: ReadonlyMap<string, TreeEntry | undefined>
}

/** Why a change cannot be planned; `obstacle`: what is at or above one of its paths. */
export interface Unplanned {
  readonly failure: Failure
  readonly obstacle?: Obstacle
}

/** One file after the other, each on top of those before it: one that cannot be written fails the whole change. */
export async function planChange(
  { tree, read }: Held,
  { files, repository, commitByAPI }: Change,
): Promise<PlannedChange | Unplanned> {
  const entries = new Map<string, TreeEntry | undefined>()
  const at: EntryAt = (path) => (entries.has(path) ? entries.get(path) : tree.get(path))
  const planned: (NewFile | RemovedFile)[] = []
  let bytes = 0
  for (const file of files) {
    const { path } = file
    const obstacle = findObstacle(at, path)
    const before = at(path)
    const isRemoval = file.content === undefined && file.edit === undefined
    // Below a file there is nothing to remove.
    if (isRemoval && (obstacle === undefined ? before === undefined : obstacle.is === 'file')) continue
    if (obstacle !== undefined) return { failure: conflict(file, repository.text, obstacle), obstacle }
    if (isRemoval) {
      entries.set(path, undefined)
      planned.push({ path })
      continue
    }
    const content = file.content ?? (await edited(file, before, { read, url: repository.text }))
    if (content instanceof Failure) return { failure: content }
    bytes += content.length
    if (bytes > CHANGE_BYTES && files.length > 1) return { failure: tooMany(repository.text) }
    const mode = before?.mode === EXECUTABLE ? EXECUTABLE : '100644'
    const oid = blobName(content)
    if (before?.oid === oid) continue
    // The API takes contents alone, and the file would not be executable any more.
    if (commitByAPI !== undefined && mode === EXECUTABLE)
      return { failure: executableFile(path, repository.text) }
    const changed = entriesTo(at, path, { mode, oid })
    const full = changed.find(
      ([part, { bytes = 0 }]) => bytes > Math.max(LARGEST_DIRECTORY, at(part)?.bytes ?? 0),
    )
    if (full !== undefined) return { failure: tooManyNames(full[0], repository.text) }
    for (const [part, entry] of changed) entries.set(part, entry)
    planned.push({ path, mode, content })
  }
  return { files: planned, entries }
}

/** What there is at a path, with the changes before. */
type EntryAt = (path: string) => TreeEntry | undefined

/** The entries that change where a file is written: its own, and those of the directories above it, which may grow. */
function entriesTo(at: EntryAt, path: string, file: TreeEntry): readonly (readonly [string, TreeEntry])[] {
  const changed: [string, TreeEntry][] = []
  let above = ROOT
  for (const part of pathsTo(path)) {
    const name = part.slice(above === ROOT ? 0 : above.length + 1)
    const grown = at(part) === undefined ? entryBytes(name) : 0
    changed.push([above, { mode: DIRECTORY_MODE, oid: '', bytes: (at(above)?.bytes ?? 0) + grown }])
    above = part
  }
  return [...changed, [path, file]]
}

interface Reading extends Pick<Held, 'read'> {
  readonly url: string
}

async function edited(
  file: FileEdit,
  before: TreeEntry | undefined,
  { read, url }: Reading,
): Promise<Uint8Array | Failure> {
  const { path } = file
  if (before === undefined) return notThere(path, url)
  const old = read(before.oid)
  if (old === undefined) return tooLarge(path, url)
  if (old instanceof Failure) return old
  try {
    const content = await madeOnce(file, before.oid, old)
    return content.length > EDITED_BYTES ? tooLarge(path, url) : content
  } catch (error) {
    return asFailure(error)
  }
}

/** What each edit has made last, or is about to make, and of which file. */
const made = new WeakMap<FileEdit, { readonly oid: string; readonly content: Promise<Uint8Array> }>()

/** An edit may take seconds: after a lost race, or in another push, it is not made again of the same file. */
function madeOnce(file: FileEdit, oid: string, before: Uint8Array): Promise<Uint8Array> {
  const known = made.get(file)
  if (known?.oid === oid) return known.content
  const content = (async () => file.edit(before))()
  made.set(file, { oid, content })
  void content.catch(() => made.delete(file))
  return content
}

function notThere(path: string, url: string): Failure {
  const message = `The file "${path}" is not in ${url} on this branch, so its fields cannot be changed; fix the path, or commit the file first.`
  return new Failure('PathConflict', message)
}

function tooLarge(path: string, url: string): Failure {
  const message = `The file "${path}" in ${url} takes more than ${EDITED_BYTES / MEBIBYTE} MiB, which is the limit for a file whose fields are changed; split it, or commit the whole file.`
  return new Failure('NotSupported', message, OF_THE_BRANCH)
}

function tooMany(url: string): Failure {
  const message = `The files for ${url} take more than ${CHANGE_BYTES / MEBIBYTE} MiB together, which is the limit for one commit; write fewer of them in one resource.`
  return new Failure('NotSupported', message, OF_THE_BRANCH)
}

function tooManyNames(directory: string, url: string): Failure {
  const which = directory === ROOT ? 'The top folder' : `The folder "${directory}"`
  const message = `${which} of ${url} holds so many files (more than ${LARGEST_DIRECTORY / MEBIBYTE} MiB of their names) that none is added to it; choose a path in another folder, or remove files there.`
  return new Failure('NotSupported', message, OF_THE_BRANCH)
}

function executableFile(path: string, url: string): Failure {
  const message = `The file "${path}" in ${url} is executable, which a commit by the API would end; leave out spec.commitVia, or choose another path.`
  return new Failure('NotSupported', message, OF_THE_BRANCH)
}

/** What is in the way of a path. */
export interface Obstacle {
  readonly at: string
  readonly is: string
}

// git fast-import would replace each of these without an error.
function findObstacle(at: EntryAt, path: string): Obstacle | undefined {
  for (const part of pathsTo(path)) {
    const is = kindOf(at(part)?.mode, part === path)
    if (is !== undefined) return { at: part, is }
  }
  return undefined
}

function conflict({ path, content, edit }: FileChange, url: string, { at, is }: Obstacle): Failure {
  const where = at === path ? 'it' : `"${at}"`
  return new Failure(
    'PathConflict',
    `The path "${path}" cannot be ${content === undefined && edit === undefined ? 'removed' : 'written'} in ${url}, because ${where} is a ${is} there; choose another path, or remove what is in the way.`,
  )
}

function kindOf(mode: string | undefined, last: boolean): string | undefined {
  if (mode === undefined) return undefined
  if (mode === '120000') return 'symbolic link'
  if (mode === '160000') return 'submodule'
  if (mode === DIRECTORY_MODE) return last ? 'directory' : undefined
  return last ? undefined : 'file'
}
