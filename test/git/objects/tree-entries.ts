import { compareNames, entriesOf, indexTree } from '../../../functions/git/objects/tree-index.ts'
import { encodeEntry, entryAt, nameOf, type TreeEntry } from '../../../functions/git/objects/tree-object.ts'

/** All entries of a tree. @throws as indexTree */
export function decodeTree(body: Buffer): readonly TreeEntry[] {
  return Array.from(entriesOf(indexTree(body)), entryAt)
}

/** The body of a tree object of these entries, in any order; all names differ. */
export function encodeTree(entries: readonly TreeEntry[]): Buffer {
  const keyed = entries.map((entry) => ({ entry, key: nameOf(entry) }))
  return Buffer.concat(
    keyed.toSorted((a, b) => compareNames(a.key, b.key)).map(({ entry }) => encodeEntry(entry)),
  )
}
