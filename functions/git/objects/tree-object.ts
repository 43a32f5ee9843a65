import { brokenObject } from './broken.ts'
import type { ObjectId } from './object.ts'

/** One entry of a tree object. */
export interface TreeEntry {
  /** Octal digits as they are stored, without a leading zero: 100644, 100755, 120000, 40000, 160000 and odd old ones. */
  readonly mode: string
  /** The bytes of the name, one character for each (latin1): Git does not know an encoding. See byteName. */
  readonly name: string
  readonly id: ObjectId
}

/** What an entry is, by the file type in its mode. */
export type EntryKind = 'file' | 'directory' | 'symlink' | 'submodule'

/** Where one entry stands in the bytes of a tree. */
export interface EntrySpan {
  readonly mode: string
  readonly name: string
  readonly start: number
  readonly end: number
}

const ID_BYTES = 20
const SPACE = 0x20
const NUL = 0
const LONGEST_MODE = 6
const NULL_ID = Buffer.alloc(ID_BYTES)

/** The name of an entry for one part of a path: its UTF-8 bytes. */
export function byteName(part: string): string {
  return Buffer.from(part).toString('latin1')
}

/** What an entry with this mode is, as canon_mode() of Git reads it. */
export function kindOfMode(mode: string): EntryKind {
  const type = Number.parseInt(mode, 8) & 0o170000
  if (type === 0o100000) return 'file'
  if (type === 0o040000) return 'directory'
  return type === 0o120000 ? 'symlink' : 'submodule'
}

/** Six digits as `git ls-tree` shows them: 100664 is 100644, 40000 is 040000. */
export function canonicalMode(mode: string): string {
  const kind = kindOfMode(mode)
  if (kind === 'directory') return '040000'
  if (kind === 'symlink') return '120000'
  if (kind === 'submodule') return '160000'
  return (Number.parseInt(mode, 8) & 0o100) === 0 ? '100644' : '100755'
}

/** What trees are sorted by: the bytes of the name, those of a directory with `/` at the end. */
export function sortKey(name: string, kind: EntryKind): string {
  return kind === 'directory' ? `${name}/` : name
}

/**
 * Reads a tree object.
 * @throws Failure NotSupported for what `git fsck --strict` does not accept of the form, the order and the names
 */
export function decodeTree(body: Buffer): readonly TreeEntry[] {
  return Array.from(readEntries(body), ({ mode, name, end }) => ({
    mode,
    name,
    id: body.toString('hex', end - ID_BYTES, end),
  }))
}

/** The object that an entry names. */
export function idAt(body: Buffer, { end }: EntrySpan): ObjectId {
  return body.toString('hex', end - ID_BYTES, end)
}

/**
 * The spans of all entries in their order; reads as far as the caller asks.
 * @throws Failure as decodeTree
 */
export function* readEntries(body: Buffer): Generator<EntrySpan, void> {
  const names = new Set<string>()
  let before = ''
  for (let start = 0; start < body.length;) {
    const span = readEntry(body, start)
    const key = sortKey(span.name, kindOfMode(span.mode))
    if (names.has(span.name)) throw brokenObject('a tree has two entries of one name')
    if (key < before) throw brokenObject('the entries of a tree are not in order')
    names.add(span.name)
    yield span
    before = key
    start = span.end
  }
}

/** The bytes of one entry. */
export function encodeEntry({ mode, name, id }: TreeEntry): Buffer {
  return Buffer.concat([Buffer.from(`${mode} ${name}\0`, 'latin1'), Buffer.from(id, 'hex')])
}

/** The body of a tree object of these entries, in any order; all names differ. */
export function encodeTree(entries: readonly TreeEntry[]): Buffer {
  const keyed = entries.map((entry) => ({ entry, key: sortKey(entry.name, kindOfMode(entry.mode)) }))
  return Buffer.concat(
    keyed.toSorted((a, b) => (a.key < b.key ? -1 : 1)).map(({ entry }) => encodeEntry(entry)),
  )
}

function readEntry(body: Buffer, start: number): EntrySpan {
  const space = body.indexOf(SPACE, start)
  const nul = body.indexOf(NUL, space + 1)
  const end = nul + 1 + ID_BYTES
  if (space < 0 || nul < 0 || end > body.length) throw brokenObject('a tree ends within an entry')
  if (space - start > LONGEST_MODE) throw brokenObject('a tree has an entry without a mode')
  const mode = body.toString('latin1', start, space)
  const name = body.toString('latin1', space + 1, nul)
  if (!/^[1-7][0-7]*$/.test(mode))
    throw brokenObject('a tree has an entry with a mode that is no octal number')
  if (!isAllowedName(name)) throw brokenObject('a tree has an entry whose name Git does not allow')
  if (NULL_ID.compare(body, nul + 1, end) === 0) throw brokenObject('a tree has an entry without an object')
  return { mode, name, start, end }
}

/** Whether `git fsck --strict` accepts the name (its bytes) of an entry. */
export function isAllowedName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !/[/\0]/.test(name) && !isDotGit(name)
}

// As is_ntfs_dotgit() and is_hfs_dotgit() of Git, which `git fsck` asks.
function isDotGit(name: string): boolean {
  if (/^(?:\.git|git~1)[. ]*(?:$|[:\\])/i.test(name)) return true
  return /[\xe2\xef]/.test(name) && /^\.git$/i.test(visible(name))
}

// HFS+ ignores these in names.
function visible(name: string): string {
  const text = Buffer.from(name, 'latin1').toString()
  return text.replace(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, '')
}
