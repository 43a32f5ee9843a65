import t from 'tap'
import { keepTrees } from '../../../functions/git/direct/written-trees.ts'
import { makeObject, type GitObject } from '../../../functions/git/objects/object.ts'
import { createPace } from '../../../functions/git/objects/pace.ts'
import { encodeEntry } from '../../../functions/git/objects/tree-object.ts'
import { countTurns } from './turns.ts'

const BLOB = 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'
/** Begins as the one that is written below, and is another. */
const LIKE = (id: string): string => id.slice(0, 8) + BLOB.slice(8)

function treeOf(entries: Readonly<Record<string, string>>): GitObject {
  const encoded = Object.entries(entries).map(([name, id]) =>
    encodeEntry({ mode: id === BLOB ? '100644' : '40000', name, id }),
  )
  return makeObject('tree', Buffer.concat(encoded))
}

t.test('the trees that one reaches are those of its directories that were written', async (t) => {
  const leaf = treeOf({ file: BLOB })
  const middle = treeOf({ a: leaf.id, b: LIKE(leaf.id), c: BLOB })
  const root = treeOf({ again: leaf.id, middle: middle.id, old: BLOB.replace('e', 'f') })
  const other = treeOf({ other: BLOB })
  const trees = keepTrees(createPace(undefined), () => undefined)
  for (const tree of [leaf, middle, root, other]) trees.add(tree)
  t.strictSame(
    (await trees.below(root.id)).map(({ id }) => id).toSorted(),
    [leaf, middle, root].map(({ id }) => id).toSorted(),
  )
})

t.test('a tree whose directories are all one that was written leaves turns of the event loop', async (t) => {
  const leaf = treeOf({ file: BLOB })
  const wide = treeOf(
    Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`d${100_000 + i}`, leaf.id])),
  )
  const trees = keepTrees(createPace(undefined), () => undefined)
  for (const tree of [leaf, wide]) trees.add(tree)
  const { result, turns } = await countTurns(() => trees.below(wide.id))
  t.equal(result.length, 2)
  t.ok(turns > 50, `${turns} turns`)
})
