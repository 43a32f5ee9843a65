import { Failure } from '../../domain/failure.ts'
import type { NewFile, RemovedFile } from '../remote.ts'
import { makeObject, type GitObject, type NewObject, type ObjectId } from './object.ts'
import {
  compareNames,
  endOf,
  findEntry,
  indexTree,
  isAllowedName,
  placeOf,
  type EntrySpan,
} from './tree-index.ts'
import {
  byteName,
  encodeEntry,
  entryAt,
  kindOfMode,
  nameOf,
  withoutPadding,
  type TreeEntry,
} from './tree-object.ts'

/** Answers the body of a tree by its name; undefined: it was not read. */
export type ReadTree = (id: ObjectId) => Buffer | undefined

/** What was done in a step, in bytes: of a directory that was read or made, and of one that was made. */
export interface SpliceStep {
  readonly work: number
  readonly made: number
}

/** What a splice has made. */
export interface Spliced {
  /** The tree with the files. */
  readonly root: ObjectId
  /** The objects that the trees before did not have: blobs, and each tree after those that it contains. */
  readonly objects: readonly NewObject[]
}

/**
 * Writes the files into a tree, and removes those without content: missing directories are made, those that become empty
 * are removed, every other entry stays byte for byte. `root` undefined:
 * the repository is empty. `read` answers the trees on the way to the files. Pure. Yields after each directory that was read,
 * or made, so that a caller can pause, or stop: a hundred directories may be one large tree.
 * A step takes some 2 ms for 10,000 entries.
 * @throws Failure Internal for what a caller has to rule out: a file in place of a directory or the other way round, a
 *   symbolic link or a submodule on the way, a path twice, a mode or a name that Git does not allow, a tree that was
 *   not read, a file to remove that is not there
 * @throws Failure NotSupported for a tree that is broken
 */
export function* splice(
  read: ReadTree,
  root: ObjectId | undefined,
  files: readonly (NewFile | RemovedFile)[],
): Generator<SpliceStep, Spliced> {
  const work: Work = { read, made: new Map() }
  const edits = files.map((file) => ({ file, parts: file.path.split('/').map(checkedName) }))
  const top =
    (yield* spliceTree(work, root, { edits, depth: 0 })) ?? keep(work, makeObject('tree', Buffer.alloc(0)))
  return { root: top, objects: [...work.made.values()] }
}

interface Work {
  readonly read: ReadTree
  readonly made: Map<ObjectId, NewObject>
}

/** A file to write or to remove, and the names from the root to it. */
interface Edit {
  readonly file: NewFile | RemovedFile
  readonly parts: readonly string[]
}

/** The files at or below one directory, which is so many names below the root. */
interface Below {
  readonly edits: readonly Edit[]
  readonly depth: number
}

/** Undefined: nothing is left. */
function* spliceTree(
  work: Work,
  id: ObjectId | undefined,
  { edits, depth }: Below,
): Generator<SpliceStep, ObjectId | undefined> {
  const old = id === undefined ? undefined : readTree(work, id)
  const bytes = old?.body ?? Buffer.alloc(0)
  const groups = Map.groupBy(edits, ({ parts }) => parts[depth] ?? '')
  const places = findPlaces(bytes, groups.keys())
  // Those below may be as large, and many.
  yield { work: bytes.length, made: 0 }
  const entries: Replacement[] = []
  for (const place of places) {
    const { name, span } = place
    const before = span === undefined ? undefined : entryAt(span)
    const below = { edits: groups.get(name) ?? [], depth: depth + 1 }
    entries.push({ place, entry: yield* newEntry(work, before, name, below) })
  }
  const body = merge(bytes, entries)
  yield { work: body.length, made: body.length }
  if (body.length === 0) return undefined
  if (old?.body.equals(body) === true) return id
  const tree = makeObject('tree', withoutPadding(body))
  return keep(work, old === undefined ? tree : { ...tree, deltaBase: old })
}

/** Where an entry of a name is in a tree, or where it belongs. */
interface NamePlace {
  readonly name: string
  readonly span: EntrySpan | undefined
  readonly asFile: number
  readonly asDirectory: number
}

/** Keeps nothing of the index: a tree may have 70,000 entries, and those below it as many. */
function findPlaces(bytes: Buffer, names: Iterable<string>): readonly NamePlace[] {
  const index = indexTree(bytes)
  return Array.from(names, (name) => {
    const span = findEntry(index, name)
    if (span !== undefined) return { name, span, asFile: span.at, asDirectory: span.at }
    const named = { bytes: Buffer.from(name, 'latin1'), start: 0, end: name.length }
    return {
      name,
      span,
      asFile: placeOf(index, { ...named, isDirectory: false }),
      asDirectory: placeOf(index, { ...named, isDirectory: true }),
    }
  })
}

/** The entry for the files at or below one name; undefined: there is none any more. */
function* newEntry(
  work: Work,
  old: TreeEntry | undefined,
  name: string,
  { edits, depth }: Below,
): Generator<SpliceStep, TreeEntry | undefined> {
  const kind = old === undefined ? undefined : kindOfMode(old.mode)
  const here = edits.filter(({ parts }) => parts.length === depth).map(({ file }) => file)
  const [file] = here
  if (file === undefined) {
    if (kind !== undefined && kind !== 'directory') throw impossible(`"${name}" is no directory`)
    const id = yield* spliceTree(work, old?.id, { edits, depth })
    return id === undefined ? undefined : { mode: old?.mode ?? '40000', name, id }
  }
  if (edits.length > 1 || (kind !== undefined && kind !== 'file')) throw impossible(`"${file.path}" is taken`)
  if (file.content === undefined) {
    if (old === undefined) throw impossible(`"${file.path}" is not there`)
    return undefined
  }
  if (file.mode !== '100644' && file.mode !== '100755') throw impossible(`a file has the mode ${file.mode}`)
  const { buffer, byteOffset, byteLength } = file.content
  const blob = makeObject('blob', Buffer.from(buffer, byteOffset, byteLength))
  return { mode: file.mode, name, id: blob.id === old?.id ? blob.id : keep(work, blob) }
}

/** An entry of the new tree. */
interface Replacement {
  /** Undefined: the old one is removed. */
  readonly entry: TreeEntry | undefined
  readonly place: NamePlace
}

/** The bytes of the old tree with these entries, each in place of the old one of its name or where it belongs. */
function merge(bytes: Buffer, entries: readonly Replacement[]): Buffer {
  const placed = entries.flatMap(({ entry, place: { span, asFile, asDirectory } }) => {
    const before = span === undefined ? undefined : entryAt(span)
    const named = entry ?? before
    if (named === undefined) return []
    const name = nameOf(named)
    const start = name.isDirectory ? asDirectory : asFile
    return [{ entry, name, start, end: span === undefined ? start : endOf(span) }]
  })
  const pieces: Buffer[] = []
  let from = 0
  for (const { entry, start, end } of placed.toSorted((a, b) => compareNames(a.name, b.name))) {
    pieces.push(bytes.subarray(from, start))
    if (entry !== undefined) pieces.push(encodeEntry(entry))
    from = end
  }
  return Buffer.concat([...pieces, bytes.subarray(from)])
}

function keep({ made }: Work, object: NewObject): ObjectId {
  made.set(object.id, object)
  return object.id
}

function readTree({ read }: Work, id: ObjectId): GitObject {
  const body = read(id)
  if (body === undefined) throw impossible(`the tree ${id} was not read`)
  return { kind: 'tree', id, body }
}

function checkedName(part: string): string {
  const name = byteName(part)
  if (isAllowedName(name)) return name
  throw impossible(`"${part}" is no name for a file`)
}

function impossible(what: string): Failure {
  return new Failure(
    'Internal',
    `Commitlet cannot build the commit (${what}); Commitlet retries automatically.`,
  )
}
