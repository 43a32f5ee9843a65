import { decodeCommit, encodeCommit } from '../objects/commit-object.ts'
import type { NewObject, ObjectId } from '../objects/object.ts'
import { createPace } from '../objects/pace.ts'
import { splice } from '../objects/splice.ts'
import type { NewCommit } from '../remote.ts'
import type { DirectSession } from './session.ts'

/** Commits that are not on the remote yet. */
export interface WrittenCommits {
  /** Their full names, in the order of the commits. */
  readonly names: readonly ObjectId[]
  /** What the remote lacks for them. */
  readonly objects: readonly NewObject[]
}

/**
 * Makes the commits, one on the other, the first on `tip` or, if that is undefined, without a parent. The trees on the
 * way to their files were read before.
 * @throws Failure Internal for what the caller has to rule out (see splice)
 */
export async function writeCommits(
  { objects, signal }: DirectSession,
  tip: ObjectId | undefined,
  commits: readonly NewCommit[],
): Promise<WrittenCommits> {
  const made = new Map<ObjectId, NewObject>()
  const names: ObjectId[] = []
  const pace = createPace(signal)
  const start = tip === undefined ? undefined : objects.get(tip)
  let root = start === undefined ? undefined : decodeCommit(start.body).tree
  for (const { files, message, author, date } of commits) {
    const spliced = splice((id) => (made.get(id) ?? objects.get(id))?.body, root, files)
    const parent = names.at(-1) ?? tip
    const parents = parent === undefined ? [] : [parent]
    const commit = encodeCommit({ tree: spliced.root, parents, author, date, message })
    for (const object of [...spliced.objects, commit]) made.set(object.id, object)
    names.push(commit.id)
    root = spliced.root
    await pace(spliced.objects.reduce((sum, { body }) => sum + body.length * WORK, 0))
  }
  return { names, objects: [...made.values()] }
}

/** Reading and writing an entry of a tree takes longer than inflating it. */
const WORK = 4
