import type { Release } from '../../domain/network/budget.ts'
import { encodeSigned, treeOfCommit } from '../objects/commit-object.ts'
import type { GitObject, ObjectId } from '../objects/object.ts'
import { createPace, type Pace } from '../objects/pace.ts'
import { startPack } from '../objects/pack-writer.ts'
import { splice, type Spliced } from '../objects/splice.ts'
import { stopIfAborted } from '../process/launcher.ts'
import type { NewCommit } from '../remote.ts'
import type { Objects } from './memory.ts'
import type { DirectSession } from './session.ts'
import { keepTrees, requireTreeRoom } from './written-trees.ts'

/** Commits that are not on the remote yet. */
export interface WrittenCommits {
  readonly commits: readonly NewCommit[]
  /** Their full names, in the order of the commits. */
  readonly names: readonly ObjectId[]
  /** A pack of what the remote lacks for them. */
  readonly pack: readonly Buffer[]
  /** The last commit, and the trees of it that were written. */
  readonly latest: readonly GitObject[]
  /** Returns the memory of the pack. */
  readonly release: Release
}

/**
 * Makes the commits, one on the other, the first on `tip` or, if that is undefined, without a parent. The trees on the
 * way to their files were read before. Of what is written, only the pack and the trees of the latest commit are kept:
 * a hundred commits in a large directory have a hundred large trees.
 * @throws Failure Internal for what the caller has to rule out (see splice); what Take throws; an Error that is no Failure
 *   where the git binary has to do it
 */
export async function writeCommits(
  session: DirectSession,
  tip: ObjectId | undefined,
  commits: readonly NewCommit[],
): Promise<WrittenCommits> {
  const { share, signal } = session
  const taken: Release[] = []
  function release(): void {
    for (const one of taken.splice(0)) one()
  }
  try {
    const written = await write(session, tip, {
      commits,
      reserve: (bytes) => void taken.push(share.take(bytes)),
    })
    return { ...written, release }
  } catch (error) {
    release()
    stopIfAborted(signal)
    throw error
  }
}

interface Writing {
  readonly commits: readonly NewCommit[]
  readonly reserve: (bytes: number) => void
}

async function write(
  { objects, share: { namespace }, signal }: DirectSession,
  tip: ObjectId | undefined,
  { commits, reserve }: Writing,
): Promise<Omit<WrittenCommits, 'release'>> {
  const pack = startPack(signal, reserve, namespace)
  const pace = createPace(signal, namespace)
  const trees = keepTrees(pace, reserve)
  let root = tip === undefined ? undefined : treeOf(objects, tip)
  const written: GitObject[] = []
  for (const { files, message, author, date, signer } of commits) {
    // A signature may wait for those of others.
    stopIfAborted(signal)
    const steps = splice((id) => (trees.get(id) ?? objects.get(id))?.body, root, files)
    const spliced = await inTurns(steps, pace)
    const parent = written.at(-1)?.id ?? tip
    const parents = parent === undefined ? [] : [parent]
    const commit = await encodeSigned({ tree: spliced.root, parents, author, date, message }, signer)
    await pace(spliced.objects.reduce((sum, { body }) => sum + body.length * WORK, 0))
    for (const object of [...spliced.objects, commit]) await pack.add(object)
    for (const object of spliced.objects) if (object.kind === 'tree') trees.add(object)
    written.push(commit)
    root = spliced.root
    await trees.tidy(root)
  }
  const latest = [...written.slice(-1), ...(root === undefined ? [] : await trees.below(root))]
  return { commits, names: written.map(({ id }) => id), pack: await pack.finish(), latest }
}

/** Without it, every file that is there would be missing in what is written. */
function treeOf(objects: Objects, tip: ObjectId): ObjectId {
  const commit = objects.get(tip)
  if (commit?.kind !== 'commit') throw new Error('the commit to build on was not read')
  return treeOfCommit(commit.body)
}

/** Makes the trees of one commit. Throws an Error that is no Failure if they are too large. */
async function inTurns(steps: ReturnType<typeof splice>, pace: Pace): Promise<Spliced> {
  let bytes = 0
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
    bytes += value.made
    requireTreeRoom(bytes)
    await pace(value.work * WORK)
  }
}

/** Reading and writing an entry of a tree takes longer than inflating it. */
const WORK = 4
