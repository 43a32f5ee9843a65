import { ID_BYTES, type ObjectId } from './object.ts'
import type { EntryName, EntrySpan } from './tree-index.ts'

/** One entry of a tree object. */
export interface TreeEntry {
  /** Octal digits as stored: 100644, 100755, 120000, 40000, 160000, and odd old ones, such as 040000. */
  readonly mode: string
  /** The bytes of the name, one character for each (latin1), because Git does not know an encoding; see byteName. */
  readonly name: string
  readonly id: ObjectId
}

/** What an entry is, by the file type in its mode. */
export type EntryKind = 'file' | 'directory' | 'symlink' | 'submodule'

/** The name of an entry for one part of a path: its UTF-8 bytes. Names compare as these texts do. */
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

/** The entry that stands there. */
export function entryAt({ bytes, at, start, end }: EntrySpan): TreeEntry {
  const mode = bytes.toString('latin1', at, start - 1)
  const name = bytes.toString('latin1', start, end)
  return { mode, name, id: bytes.toString('hex', end + 1, end + 1 + ID_BYTES) }
}

/** The bytes of one entry. */
export function encodeEntry({ mode, name, id }: TreeEntry): Buffer {
  return Buffer.concat([Buffer.from(`${mode} ${name}\0`, 'latin1'), Buffer.from(id, 'hex')])
}

const PADDED = Buffer.from('040000 ')

/**
 * A valid tree as Git writes it, without the zero that some tools wrote before the mode of a directory: servers that check what is
 * pushed refuse a new tree with one.
 */
export function withoutPadding(tree: Buffer): Buffer {
  if (!tree.includes(PADDED)) return tree
  const pieces: Buffer[] = []
  let from = 0
  for (let at = 0; at < tree.length; at = tree.indexOf(0, at) + 1 + ID_BYTES) {
    if (tree[at] !== PADDED[0] || !tree.subarray(at, at + PADDED.length).equals(PADDED)) continue
    pieces.push(tree.subarray(from, at))
    from = at + 1
  }
  return Buffer.concat([...pieces, tree.subarray(from)])
}

/** What an entry is sorted by. */
export function nameOf({ mode, name }: Pick<TreeEntry, 'mode' | 'name'>): EntryName {
  const isDirectory = kindOfMode(mode) === 'directory'
  return { bytes: Buffer.from(name, 'latin1'), start: 0, end: name.length, isDirectory }
}
