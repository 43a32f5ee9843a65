import { join } from 'node:path'
import type { CommitByAPI } from '../../functions/domain/commit/commit-by-api.ts'
import { gitCommits } from '../harness/hosts/git-commits.ts'

/** A host that makes commits in the bare repositories of a folder; `made` counts what it was asked for. */
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
    committerOf: (url) => (given, { remaining }) => {
      if ((remaining?.() ?? Infinity) <= 0) return Promise.resolve({ kind: 'race' })
      made.push(url)
      const path = join(root, decodeURIComponent(new URL(url).pathname))
      const { branch, tip: expected, message, files } = given
      const additions = files.flatMap(({ path, content }) =>
        content === undefined ? [] : [{ path, content }],
      )
      const deletions = files.flatMap(({ path, content }) => (content === undefined ? [path] : []))
      const sha = gitCommits({ path }).commit({ branch, expected, message, additions, deletions })
      return Promise.resolve(sha === 'stale' ? { kind: 'race' } : { kind: 'landed', sha })
    },
  }
}
