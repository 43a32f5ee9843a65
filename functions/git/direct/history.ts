import { Failure } from '../../domain/failure.ts'
import { committedAt, decodeCommit } from '../objects/commit-object.ts'
import type { ObjectId } from '../objects/object.ts'
import { createPace } from '../objects/pace.ts'
import { failureOf } from '../output/classify.ts'
import { BROKEN_OFF } from '../output/error-meaning.ts'
import { GENERATIONS, isFor, trailersOf, type PastTrailers } from '../past-commit.ts'
import type { SoughtCommit } from '../remote.ts'
import type { Tree, TreeEntry } from '../tree.ts'
import { isBusy } from './memory.ts'
import { readTree } from './read-tree.ts'
import { fetchObjects, understood, type DirectSession, type FetchedObjects } from './session.ts'
import { fetchWithTrees } from './tree-fetches.ts'

/** Commits below a tip, without trees. */
export interface History {
  /** In the order of the server: later ones first. */
  readonly commits: ReadonlyMap<ObjectId, PastCommit>
  /** Those of them whose parents were not fetched. */
  readonly edge: ReadonlySet<ObjectId>
  /** The date since which they were fetched. */
  readonly since?: Date | undefined
}

/** What a search reads of a commit. Not its message, which may be large. */
interface PastCommit extends PastTrailers {
  readonly parents: readonly ObjectId[]
  /** In seconds since 1970. */
  readonly committed: number
}

const [EXTRA_COMMITS] = GENERATIONS
/** Wants of one fetch: far more than a batch has commits, or a history has ends. */
const MOST_WANTS = 1000
/** Decoding a commit and reading its lines takes longer than inflating it. */
const WORK = 8
/**
 * Trees that one search compares, besides four for each change: a commit and its parent are two. Anybody who may push can
 * copy the trailers of a commit, or write them where there is no key for seals, each with thousands of parents; the git
 * binary reads more.
 */
const MOST_COMPARED = 200
const COMPARED_EACH = 4

/** Fetches the commits since a date, without trees; without a date, or where none is that new, the latest 50. */
export async function fetchHistory(
  session: DirectSession,
  tip: ObjectId,
  since?: Date,
): Promise<History | 'moved'> {
  const history = await fetchCommits(session, [tip], since ?? EXTRA_COMMITS)
  return history === 'moved' ? history : { ...history, since }
}

/**
 * Searches the history of the tip for commits that an earlier attempt has pushed: those that have the id, and a seal for
 * it, in their trailers, and change one of the paths. If one is missing and there is more history, the next 50 generations are
 * fetched as well, and more as long as the history is cut at commits as new as its date. Returns their names in the order of `sought`.
 */
export async function searchHistory(
  session: DirectSession,
  history: History,
  sought: readonly SoughtCommit[],
): Promise<readonly (ObjectId | undefined)[]> {
  let found = await search(session, history, sought)
  let beyond = parentsBeyond(history)
  // A fetch since a date stops at each commit with an older one, and at a merge of such a commit: below may be any number of newer ones.
  for (const generations of GENERATIONS) {
    if (!found.includes(undefined) || beyond.length === 0) return found
    const more = await fetchBeyond(session, beyond, generations)
    if (more === 'too many') return found
    const older = await search(session, more, sought)
    found = found.map((name, i) => name ?? older[i])
    const isNew = (name: ObjectId): boolean => isAsNew(more.commits.get(name), history.since)
    beyond = parentsBeyond({ ...more, edge: new Set([...more.edge].filter(isNew)) })
  }
  return found
}

/** `too many`: of more than the first 50 generations, for this engine; the git binary would fetch their trees as well. */
async function fetchBeyond(
  session: DirectSession,
  wants: readonly ObjectId[],
  generations: number,
): Promise<History | 'too many'> {
  try {
    const more = await fetchCommits(session, wants, generations)
    if (more !== 'moved') return more
  } catch (error) {
    if (generations === EXTRA_COMMITS || error instanceof Failure || isBusy(error)) throw error
    return 'too many'
  }
  throw new Error('it does not send the parents of a commit')
}

/** As many as one fetch may want: a commit may have 20,000 parents, and a server names as many edges as it likes. */
function parentsBeyond({ commits, edge }: History): readonly ObjectId[] {
  const beyond = new Set<ObjectId>()
  for (const name of edge) {
    for (const parent of commits.get(name)?.parents ?? []) {
      if (beyond.size === MOST_WANTS) return [...beyond]
      if (!commits.has(parent)) beyond.add(parent)
    }
  }
  return [...beyond]
}

async function search(
  session: DirectSession,
  { commits }: History,
  sought: readonly SoughtCommit[],
): Promise<readonly (ObjectId | undefined)[]> {
  const wanted = Map.groupBy(sought, ({ id }) => id)
  const candidates: Candidate[] = []
  const pace = createPace(session.signal, session.share.namespace)
  for (const [name, commit] of commits)
    for (const one of [...new Set(commit.ids)].flatMap((id) => wanted.get(id) ?? []))
      if (isFor(commit, one)) candidates.push({ name, sought: one, parents: commit.parents })
  await fetchCandidates(session, candidates)
  const of = Map.groupBy(candidates, (candidate) => candidate.sought)
  const found: (ObjectId | undefined)[] = []
  let left = MOST_COMPARED + COMPARED_EACH * sought.length
  const read: ReadPaths = (commit, paths) => {
    left -= 1
    if (left < 0) throw new Error('too many commits have the id of a change')
    return readTree(session, { commit }, { paths, pace })
  }
  for (const one of sought) found.push(await firstThatChanges(read, of.get(one) ?? [], one.paths))
  return found
}

/** What a commit has at these paths. */
type ReadPaths = (commit: ObjectId | undefined, paths: readonly string[]) => Promise<Tree>

interface Candidate {
  readonly name: ObjectId
  /** One of those that it is for. */
  readonly sought: SoughtCommit
  readonly parents: readonly ObjectId[]
}

/** The commits and their parents, with their trees unless these are too many. */
async function fetchCandidates(session: DirectSession, candidates: readonly Candidate[]): Promise<void> {
  const wants = [...new Set(candidates.map(({ name }) => name))].slice(0, MOST_WANTS)
  if (wants.length === 0) return
  const fetched = await fetchWithTrees(session, { wants, depth: 2 })
  if (fetched === 'moved') throw new Error('it does not send a commit of the history')
}

/** The first that was made: whoever may push can copy its trailers afterwards. */
async function firstThatChanges(
  read: ReadPaths,
  candidates: readonly Candidate[],
  paths: readonly string[],
): Promise<ObjectId | undefined> {
  for (const { name, parents } of candidates.toReversed()) {
    const after = await read(name, paths)
    const befores = parents.length === 0 ? [undefined] : parents
    for (const parent of befores) {
      const before = await read(parent, paths)
      if (paths.some((path) => !isSame(before.get(path), after.get(path)))) return name
    }
  }
  return undefined
}

function isSame(one: TreeEntry | undefined, other: TreeEntry | undefined): boolean {
  return one?.oid === other?.oid && one?.mode === other?.mode
}

async function fetchCommits(
  session: DirectSession,
  wants: readonly ObjectId[],
  depth: number | Date,
): Promise<History | 'moved'> {
  const fetched = await fetchObjects(session, { wants, filter: 'tree:0', depth })
  if (fetched === 'moved') return fetched
  if (typeof fetched === 'object') return historyOf(session, fetched)
  const latest = await fetchCommits(session, wants, EXTRA_COMMITS)
  // With one that is as new, the answer has broken off: those in between may be many, and the one that is sought among them.
  if (fetched === 'no pack' && latest !== 'moved' && depth instanceof Date) {
    if (wants.some((name) => isAsNew(latest.commits.get(name), depth)))
      throw failureOf(BROKEN_OFF, session.context)
  }
  return latest
}

/** By whole seconds, as upload-pack does. */
function isAsNew(commit: PastCommit | undefined, date: Date | undefined): boolean {
  return date !== undefined && (commit?.committed ?? 0) >= Math.floor(date.getTime() / 1000)
}

async function historyOf(session: DirectSession, { objects, shallow }: FetchedObjects): Promise<History> {
  const commits = new Map<ObjectId, PastCommit>()
  const pace = createPace(session.signal, session.share.namespace)
  for (const { kind, id, body } of objects.values()) {
    if (kind !== 'commit') continue
    const { parents, message } = understood(body, decodeCommit)
    commits.set(id, { parents, committed: committedAt(body), ...trailersOf(message) })
    await pace(body.length * WORK)
  }
  return { commits, edge: new Set(shallow.filter((id) => commits.has(id))) }
}
