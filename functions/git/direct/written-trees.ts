import type { GitObject, ObjectId } from '../objects/object.ts'
import type { Reserve } from '../objects/pack-writer.ts'
import type { Pace } from '../objects/pace.ts'
import { entriesOf, indexTree, type EntrySpan } from '../objects/tree-index.ts'
import { entryAt } from '../objects/tree-object.ts'

/** Trees that were written for commits of one push: those that the next commit is built on, and not many others. */
export interface WrittenTrees {
  get(id: ObjectId): GitObject | undefined
  add(tree: GitObject): void
  /** Forgets the trees that `root` does not reach, if there are many. */
  tidy(root: ObjectId): Promise<void>
  /** The trees that `root` reaches. */
  below(root: ObjectId): Promise<readonly GitObject[]>
}

/** Bytes of trees that are kept without a look at which of them are needed. */
const TIDY_BYTES = 2 * 1024 * 1024

/** Bytes of trees that are written at once; the git binary writes more. A hundred directories may be one large tree. */
const MOST_BYTES = 32 * 1024 * 1024

/** Throws an Error that is no Failure for more than that. */
export function requireTreeRoom(bytes: number): void {
  if (bytes > MOST_BYTES) throw new Error(`the trees that change have more than ${MOST_BYTES} bytes`)
}

/** Reading an entry takes longer than inflating it. */
const WORK = 4

/** The first 32 bits of an id: names of 60,000 directories take 50 ms to be made texts, of which hardly any was written. */
function beginningOf(id: ObjectId): number {
  return Number.parseInt(id.slice(0, 8), 16)
}

function beginningIn({ bytes, end }: EntrySpan): number {
  return bytes.readUInt32BE(end + 1)
}

/**
 * No trees yet; `reserve` is told when they take more memory than ever before. A hundred commits in a large directory write a
 * hundred large trees, of which the last one is needed.
 */
export function keepTrees(pace: Pace, reserve: Reserve): WrittenTrees {
  let trees = new Map<ObjectId, GitObject>()
  let bytes = 0
  let most = TIDY_BYTES
  let reserved = TIDY_BYTES

  async function below(root: ObjectId): Promise<readonly GitObject[]> {
    const beginnings = new Set(Array.from(trees.keys(), beginningOf))
    const reached = new Map<ObjectId, GitObject>()
    const ids = [root]
    for (const id of ids) {
      const tree = trees.get(id)
      if (tree === undefined || reached.has(id)) continue
      reached.set(id, tree)
      for (const span of entriesOf(indexTree(tree.body))) {
        if (!span.isDirectory || !beginnings.has(beginningIn(span))) continue
        const { id: next } = entryAt(span)
        if (trees.has(next) && !reached.has(next)) ids.push(next)
        // All entries of a large tree may be one that was written.
        await pace(0)
      }
      await pace(tree.body.length * WORK)
    }
    return [...reached.values()]
  }

  return {
    get: (id) => trees.get(id),
    add(tree) {
      if (trees.has(tree.id)) return
      trees.set(tree.id, tree)
      bytes += tree.body.length
      if (bytes <= reserved) return
      reserve(bytes - reserved)
      reserved = bytes
    },
    async tidy(root) {
      if (bytes <= most) return
      const kept = await below(root)
      trees = new Map(kept.map((tree) => [tree.id, tree]))
      bytes = kept.reduce((sum, { body }) => sum + body.length, 0)
      requireTreeRoom(bytes)
      most = Math.min(MOST_BYTES, Math.max(TIDY_BYTES, 2 * bytes))
    },
    below,
  }
}
