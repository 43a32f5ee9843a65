import { COMMIT_ID_TRAILER } from '../../domain/commit/commit-id.ts'
import { COMMIT_SEAL_TRAILER } from '../../domain/commit/commit-seal.ts'
import { createPace } from '../objects/pace.ts'
import { isFor, type PastTrailers } from '../past-commit.ts'
import type { SoughtCommit } from '../remote.ts'
import { deepen } from './fetch.ts'
import type { Session } from './session.ts'

// A fetch since a date stops at the first commit with an older date, and the clocks of writers differ.
const EXTRA_COMMITS = 50

/**
 * Searches the fetched history of `branch` for commits that an earlier attempt has pushed: those that have the id, and a
 * seal for it, in their trailers, and change one of the paths. If one is missing and there is more history, the next 50 commits are
 * fetched as well. Returns their names in the order of `sought`.
 */
export async function searchHistory(
  session: Session,
  branch: string,
  sought: readonly SoughtCommit[],
): Promise<readonly (string | undefined)[]> {
  const found = await search(session, branch, sought)
  const edge = await session.workspace.readLines('shallow')
  if (!found.includes(undefined) || edge.length === 0) return found
  await deepen(session, branch, EXTRA_COMMITS)
  return search(session, branch, sought)
}

async function search(
  session: Session,
  branch: string,
  sought: readonly SoughtCommit[],
): Promise<readonly (string | undefined)[]> {
  const candidates = await listCandidates(session, sought)
  if (candidates.some(({ atEdge }) => atEdge)) await deepen(session, branch, 1)
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
