import { createHash } from 'node:crypto'

/** What a tree holds at a path. */
export interface TreeEntry {
  /** Six octal digits: 100644, 100755, 120000 (symlink), 160000 (submodule), 040000 (directory). */
  readonly mode: string
  /** Full object name. */
  readonly oid: string
  /** Of a directory, the bytes of its tree, where that was looked into. */
  readonly bytes?: number | undefined
}

/** The mode of a directory. */
export const DIRECTORY_MODE = '040000'

/** The path of the directory that holds all others, in a Tree whose engine has looked into it. */
export const ROOT = ''

/**
 * The bytes of the largest tree that the direct engine reads and writes, which takes it 50 ms; the git binary takes larger
 * ones, in a second. No change adds a name to a directory beyond that: some 20,000 to 50,000 files.
 */
export const LARGEST_DIRECTORY = 2 * 1024 * 1024

/** What an entry takes in a tree: its mode, a space, its name, a NUL and the 20 bytes of an id. */
export function entryBytes(name: string): number {
  return Buffer.byteLength(name) + 28
}

/** Entries by path from the root; a path without an entry does not exist. */
export type Tree = ReadonlyMap<string, TreeEntry>

/** `a/b/c` → `a`, `a/b`, `a/b/c`. */
export function pathsTo(path: string): readonly string[] {
  const paths: string[] = []
  for (let end = path.indexOf('/'); end >= 0; end = path.indexOf('/', end + 1)) paths.push(path.slice(0, end))
  return [...paths, path]
}

/** The name that Git gives to a blob of this content (SHA-1). */
export function blobName(content: Uint8Array): string {
  return createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex')
}
