import { COMMIT_ID_TRAILER } from '../../domain/commit/commit-id.ts'
import { COMMIT_SEAL_TRAILER } from '../../domain/commit/commit-seal.ts'
import { Failure } from '../../domain/failure.ts'
import { createPace } from '../objects/pace.ts'
import { GENERATIONS, isFor, type PastTrailers } from '../past-commit.ts'
import type { SoughtCommit } from '../remote.ts'
import { deepen } from './fetch.ts'
import type { Session } from './session.ts'
import { edgeOf, isCutSince } from './shallow.ts'

/** With more than this, trees included, no more is fetched than the first 50 commits: what is beyond may take ten times as much. */
const FEW_BYTES = 512 * 1024

/**
 * Searches the fetched history of a ref for commits that an earlier attempt has pushed: those that have the id, and a
 * seal for it, in their trailers, and change one of the paths. If one is missing and there is more history, the next 50 commits are
 * fetched as well; and more, where that is little, as long as the history is cut at commits as new as `since`. Returns their names in
 * the order of `sought`.
 */
export async function searchHistory(
  session: Session,
  { ref, sought, since }: Search,
): Promise<readonly (string | undefined)[]> {
  const [first, ...more] = GENERATIONS
  const found = await search(session, ref, sought)
  if (!found.includes(undefined) || (await edgeOf(session)).length === 0) return found
  await deepen(session, ref, first)
  let last = await search(session, ref, sought)
  // A fetch since a date stops at each commit with an older one, and at a merge of such a commit: below may be any number of newer ones.
  for (const by of more) {
    const isLeft = last.includes(undefined) && since !== undefined && (await isCutSince(session, since))
    if (!isLeft || (await session.workspace.fetchedBytes()) > FEW_BYTES) return last
    if (!(await tryToDeepen(session, ref, by))) return last
    last = await search(session, ref, sought)
  }
  return last
}

/** Whether it was within the limits of the session. */
async function tryToDeepen(session: Session, ref: string, by: number): Promise<boolean> {
  try {
    await deepen(session, ref, by)
    return true
  } catch (error) {
    if (error instanceof Failure && error.reason === 'NotSupported') return false
    throw error
  }
}

/** What is searched for. */
export interface Search {
  /** What the history was fetched of. */
  readonly ref: string
  readonly sought: readonly SoughtCommit[]
  /** The date since which the history was fetched. */
  readonly since: Date | undefined
}

async function search(
  session: Session,
  ref: string,
  sought: readonly SoughtCommit[],
): Promise<readonly (string | undefined)[]> {
  const candidates = await listCandidates(session, sought)
  if (candidates.some(({ atEdge }) => atEdge)) await deepen(session, ref, 1)
  const of = Map.groupBy(candidates, (candidate) => candidate.sought)
  const found: (string | undefined)[] = []
  for (const one of sought) found.push(await firstThatChanges(session, of.get(one) ?? [], one.paths))
  return found
}

/** The first that was made: whoever may push can copy its trailers afterwards. */
async function firstThatChanges(
  session: Session,
  candidates: readonly Candidate[],
  paths: readonly string[],
): Promise<string | undefined> {
  const names = candidates.map(({ sha }) => sha)
  const changing = await thoseThatChange(session, names, paths)
  return names.findLast((name) => changing.has(name))
}

interface Candidate {
  readonly sha: string
  /** One of those that it is for. */
  readonly sought: SoughtCommit
  /** Its parents were not fetched, so it seems to have added every file. */
  readonly atEdge: boolean
}

/** Characters of the trailers of a commit that are read, from their end. */
const LONGEST_TRAILERS = 1024 * 1024
/** Reading the trailers of a commit takes longer than inflating them. */
const WORK = 8

async function listCandidates(
  session: Session,
  sought: readonly SoughtCommit[],
): Promise<readonly Candidate[]> {
  const greps = [...new Set(sought.map(({ id }) => `--grep=${COMMIT_ID_TRAILER}: ${id}`))]
  // Unfolded, each trailer is one line; a message has no NUL.
  const keys = [COMMIT_ID_TRAILER, COMMIT_SEAL_TRAILER].map((key) => `key=${key}`).join(',')
  const format = `--format=%H%x00%(trailers:${keys},unfold,separator=%x00)`
  const log = await session.offline([
    'log',
    '--fixed-strings',
    '--no-show-signature',
    ...greps,
    format,
    'refs/base',
    '--',
  ])
  const edge = new Set(await session.workspace.readLines('shallow'))
  const wanted = Map.groupBy(sought, ({ id }) => id)
  const values = new Set(sought.flatMap(({ id, seals = [] }) => [id, ...seals]))
  const candidates: Candidate[] = []
  // Anybody may write trailers, into as many commits as Git prints.
  const pace = createPace(undefined)
  for (let at = 0, end = log.indexOf('\n'); end >= 0; at = end + 1, end = log.indexOf('\n', at)) {
    const sha = log.slice(at, log.indexOf('\0', at))
    const commit = trailersOf(log.slice(Math.max(at + sha.length, end - LONGEST_TRAILERS), end), values)
    const asked = commit.ids.flatMap((id) => wanted.get(id) ?? [])
    for (const one of asked)
      if (isFor(commit, one)) candidates.push({ sha, sought: one, atEdge: edge.has(sha) })
    await pace((end - at) * WORK)
  }
  return candidates
}

/** Each of these values once. */
function trailersOf(line: string, values: ReadonlySet<string>): PastTrailers {
  const trailers = line.split('\0')
  const valuesOf = (key: string): readonly string[] => {
    const own = trailers.flatMap((text) => (text.startsWith(key) ? [text.slice(key.length)] : []))
    return [...new Set(own.filter((value) => values.has(value)))]
  }
  return { ids: valuesOf(`${COMMIT_ID_TRAILER}: `), seals: valuesOf(`${COMMIT_SEAL_TRAILER}: `) }
}

/** Those of the commits that change one of the paths: one process for all, because anybody may write the id into theirs. */
async function thoseThatChange(
  session: Session,
  commits: readonly string[],
  paths: readonly string[],
): Promise<ReadonlySet<string>> {
  if (commits.length === 0) return new Set()
  const args = ['diff-tree', '--stdin', '-s', '-r', '-m', '--root', '--no-renames', '--', ...paths]
  const changing = await session.offline(args, Buffer.from(commits.map((name) => `${name}\n`).join('')))
  return new Set(changing.split('\n'))
}
