import { createHash } from 'node:crypto'

/** What a tree holds at a path. */
export interface TreeEntry {
  /** Six octal digits: 100644, 100755, 120000 (symlink), 160000 (submodule), 040000 (directory). */
  readonly mode: string
  /** Full object name. */
  readonly oid: string
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
