import type { Change } from '../../domain/commit/change.ts'
import { deepen } from './fetch.ts'
import type { Session } from './session.ts'

const TRAILER = 'Commitlet-Id'

// Fetching since a time ends at the first commit of an older date, and clocks of writers differ.
const FURTHER = 50

/**
 * Looks in the fetched history of `branch` for commits that an earlier attempt has pushed: those that carry
 * the change's id in their trailers and change its path. Where one is missing and there is more history, the
 * next 50 commits are fetched, too. Answers their names.
 */
export async function findLanded<C extends { readonly change: Sought }>(
  session: Session,
  branch: string,
  batch: readonly C[],
): Promise<ReadonlyMap<C, string>> {
  const found = await search(session, branch, batch)
  const edge = await session.workspace.readLines('shallow')
  if (found.size === batch.length || edge.length === 0) return found
  await deepen(session, branch, FURTHER)
  return search(session, branch, batch)
}

/** What a commit is known by. */
export type Sought = Pick<Change, 'id' | 'path'>

async function search<C extends { readonly change: Sought }>(
  session: Session,
  branch: string,
  batch: readonly C[],
): Promise<ReadonlyMap<C, string>> {
  const found = new Map<C, string>()
  const candidates = await listCandidates(session, batch)
  if (candidates.some(({ atEdge }) => atEdge)) await deepen(session, branch, 1)
  for (const { sha, ids } of candidates) {
    for (const entry of batch) {
      if (found.has(entry) || !ids.includes(entry.change.id)) continue
      if (await changesPath(session, sha, entry.change.path)) found.set(entry, sha)
    }
  }
  return found
}

interface Candidate {
  readonly sha: string
  readonly ids: readonly string[]
  /** Its parents were not fetched, so that it looks as if it had made every file. */
  readonly atEdge: boolean
}

async function listCandidates(
  session: Session,
  batch: readonly { readonly change: Sought }[],
): Promise<readonly Candidate[]> {
  const greps = [...new Set(batch.map(({ change }) => `--grep=${TRAILER}: ${change.id}`))]
  const format = `--format=%H %(trailers:key=${TRAILER},valueonly,separator=%x20)`
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

async function changesPath(session: Session, sha: string, path: string): Promise<boolean> {
  const names = await session.offline([
    'diff-tree',
    '-r',
    '-m',
    '--root',
    '--no-renames',
    '--no-commit-id',
    '--name-only',
    '-z',
    sha,
    '--',
    path,
  ])
  return names !== ''
}
