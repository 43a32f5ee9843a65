import { COMMIT_ID_TRAILER } from '../../domain/commit/commit-id.ts'
import type { SoughtCommit } from '../remote.ts'
import { deepen } from './fetch.ts'
import type { Session } from './session.ts'

// A fetch since a date stops at the first commit with an older date, and the clocks of writers differ.
const EXTRA_COMMITS = 50

/**
 * Searches the fetched history of `branch` for commits that an earlier attempt has pushed: those that have the id in
 * their trailers and change one of the paths. If one is missing and there is more history, the next 50 commits are
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
  const found: (string | undefined)[] = []
  for (const commit of sought) found.push(await findCommit(session, candidates, commit))
  return found
}

async function findCommit(
  session: Session,
  candidates: readonly Candidate[],
  { id, paths }: SoughtCommit,
): Promise<string | undefined> {
  const names = candidates.filter(({ ids }) => ids.includes(id)).map(({ sha }) => sha)
  const changing = await thoseThatChange(session, names, paths)
  return names.find((name) => changing.has(name))
}

interface Candidate {
  readonly sha: string
  readonly ids: readonly string[]
  /** Its parents were not fetched, so it seems to have added every file. */
  readonly atEdge: boolean
}

async function listCandidates(
  session: Session,
  sought: readonly SoughtCommit[],
): Promise<readonly Candidate[]> {
  const greps = [...new Set(sought.map(({ id }) => `--grep=${COMMIT_ID_TRAILER}: ${id}`))]
  const format = `--format=%H %(trailers:key=${COMMIT_ID_TRAILER},valueonly,separator=%x20)`
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
  return log
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [sha = '', ...ids] = line.split(' ')
      return { sha, ids, atEdge: edge.has(sha) }
    })
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
