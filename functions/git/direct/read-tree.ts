import { LRUCache } from 'lru-cache'
import { movedMeanwhile } from '../branch.ts'
import { treeOfCommit } from '../objects/commit-object.ts'
import type { ObjectId } from '../objects/object.ts'
import { createPace, type Pace } from '../objects/pace.ts'
import { findEntry, indexTree, type TreeIndex } from '../objects/tree-index.ts'
import { byteName, canonicalMode, entryAt, kindOfMode } from '../objects/tree-object.ts'
import type { Tip } from '../remote.ts'
import { DIRECTORY_MODE, LARGEST_DIRECTORY, ROOT, type Tree, type TreeEntry } from '../tree.ts'
import { fetchCommit } from './read-tip.ts'
import { understood, type DirectSession } from './session.ts'
import { fetchTrees } from './tree-fetches.ts'

/** What is to be read of a commit. */
export interface WantedPaths {
  readonly paths: readonly string[]
  /** Default: a pace of its own. Who reads many commits hands in one for all. */
  readonly pace?: Pace
}

/**
 * The entries of the commit at the paths and at every directory above them. Where a tree is not here, all trees are fetched
 * again, or those that are needed, a level of directories at a time.
 * @throws Failure for an error of the remote; an Error that is no Failure where the git binary has to do it
 */
export async function readTree(
  session: DirectSession,
  { commit, branch }: Pick<Tip, 'commit'> & Partial<Tip>,
  { paths, pace = createPace(session.signal, session.share.namespace) }: WantedPaths,
): Promise<Tree> {
  if (commit === undefined) return new Map()
  const wanted = paths.map((path) => ({ path, at: 0 }))
  for (let fetches = 0; ; fetches += 1) {
    const tree = await walk({ session, pace }, commit, wanted)
    if (tree !== undefined) return tree
    if (fetches === MOST_FETCHES) throw new Error('a fetch does not bring all trees')
    if ((await fetchCommit(session, commit)) === 'moved') {
      if (branch !== undefined) session.tips.forget(branch)
      throw movedMeanwhile(session.context.url)
    }
  }
}

/** All trees may be too many, and the server may send none by its name. */
const MOST_FETCHES = 2

interface Wanted {
  readonly path: string
  /** Where the name in the directory at hand begins. */
  readonly at: number
}

interface Walk {
  readonly session: DirectSession
  readonly pace: Pace
  readonly found: Map<string, TreeEntry>
  /** Those of the last trees: many directories may be the same one. */
  readonly indexes: LRUCache<ObjectId, TreeIndex>
}

/** A directory, and what is to be read of it. */
interface Below {
  readonly id: ObjectId
  readonly wanted: readonly Wanted[]
}

/** Undefined: a tree is not here, and does not come by its name. */
async function walk(
  { session, pace }: Pick<Walk, 'session' | 'pace'>,
  commit: ObjectId,
  wanted: readonly Wanted[],
): Promise<Tree | undefined> {
  const top = session.objects.get(commit)
  if (top?.kind !== 'commit') return undefined
  const found = new Map<string, TreeEntry>()
  const means = { session, pace, found, indexes: new LRUCache<ObjectId, TreeIndex>({ max: MOST_INDEXES }) }
  let level: readonly Below[] = [{ id: understood(top.body, treeOfCommit), wanted }]
  while (level.length > 0) {
    const missing = [...new Set(level.map(({ id }) => id))].filter(
      (id) => session.objects.get(id) === undefined,
    )
    if (missing.length > 0 && !(await fetchTrees(session, missing))) return undefined
    const next: Below[] = []
    for (const one of level) next.push(...(await readDirectory(means, one)))
    level = next
  }
  return found
}

/** Returns the directories below it that are to be read. */
async function readDirectory(
  { session, pace, found, indexes }: Walk,
  { id, wanted }: Below,
): Promise<readonly Below[]> {
  const tree = session.objects.get(id)
  if (tree?.kind !== 'tree') throw new Error('a directory is no tree')
  if (tree.body.length > LARGEST_DIRECTORY)
    throw new Error(`a directory has more than ${LARGEST_DIRECTORY} bytes`)
  const [one] = wanted
  const directory = one === undefined ? ROOT : one.path.slice(0, Math.max(0, one.at - 1))
  found.set(directory, { mode: DIRECTORY_MODE, oid: id, bytes: tree.body.length })
  const known = indexes.get(id)
  await pace(known === undefined ? tree.body.length * WORK : 0)
  const groups = Map.groupBy(wanted, (one) => byteName(one.path.slice(one.at, endOf(one))))
  const below: Below[] = []
  const index = known ?? indexOf(tree.body)
  indexes.set(id, index)
  for (const [name, group] of groups) {
    // A push may have 50,000 paths.
    await pace(0)
    const [first] = group
    const span = findEntry(index, name)
    if (first === undefined || span === undefined) continue
    const { mode, id: oid } = entryAt(span)
    found.set(first.path.slice(0, endOf(first)), { mode: canonicalMode(mode), oid })
    const deeper = group
      .filter((one) => endOf(one) < one.path.length)
      .map((one) => ({ path: one.path, at: endOf(one) + 1 }))
    if (deeper.length > 0 && kindOfMode(mode) === 'directory') below.push({ id: oid, wanted: deeper })
  }
  return below
}

/** Where a tree breaks Git's rules, the git binary has to say so, to those alone who need it. */
function indexOf(tree: Buffer): TreeIndex {
  try {
    return indexTree(tree)
  } catch (cause) {
    throw new Error('a tree cannot be read here', { cause })
  }
}

/** Reading an entry takes longer than inflating it. */
const WORK = 4

/** One of a tree of that size takes 0.6 MB. */
const MOST_INDEXES = 2

/** Where that name ends. */
function endOf({ path, at }: Wanted): number {
  const end = path.indexOf('/', at)
  return end < 0 ? path.length : end
}
