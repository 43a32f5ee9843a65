import { join } from 'node:path'
import type { ApiCommit, ApiCommitted, CommitByAPI } from '../../functions/domain/commit/commit-by-api.ts'
import type { GitRepository } from '../harness/git-repository.ts'
import { gitCommits } from '../harness/hosts/git-commits.ts'

/** A host that makes commits in the bare repositories of a folder; `made` has the address of each. */
export interface ApiCommitter {
  readonly made: readonly string[]
  /** Commits to the repository with this address. */
  committerOf(url: string): CommitByAPI
}

/** Makes one for the folder that a Git server serves. */
export function openApiCommitter(root: string): ApiCommitter {
  const made: string[] = []
  return {
    made,
    committerOf:
      (url) =>
      (commit, { remaining }) => {
        if ((remaining?.() ?? Infinity) <= 0) return Promise.resolve({ kind: 'race' })
        made.push(url)
        const path = join(root, decodeURIComponent(new URL(url).pathname))
        return Promise.resolve(commitTo({ path }, commit))
      },
  }
}

/** Makes the commit as a host does. */
export function commitTo(repository: Pick<GitRepository, 'path'>, commit: ApiCommit): ApiCommitted {
  const { branch, tip: expected, message, files } = commit
  const additions = files.flatMap(({ path, content }) => (content === undefined ? [] : [{ path, content }]))
  const deletions = files.flatMap(({ path, content }) => (content === undefined ? [path] : []))
  const sha = gitCommits(repository).commit({ branch, expected, message, additions, deletions })
  return sha === 'stale' ? { kind: 'race' } : { kind: 'landed', sha }
}
