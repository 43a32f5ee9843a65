import type { Landed } from '../domain/commit/change.ts'
import { commitURL } from '../domain/repository/target.ts'
import type { SoundGitCommit } from '../domain/schema/parse.ts'
import type { Outcome } from '../domain/resource/status.ts'
import { filesOf } from './files.ts'

/** Hex digits of `status.commit.shortSHA`. */
const SHORT_SHA = 12

/** The outcome of a commit that was pushed, or of a branch that already holds the content. */
export function outcomeOf(
  resource: SoundGitCommit,
  landed: Landed,
  credentialsUsed: Outcome['credentialsUsed'],
): Outcome {
  const [path = '', ...others] = filesOf(resource).map((file) => file.path)
  const files = others.length + 1
  const { sha, branch } = landed
  const shortSHA = sha.slice(0, SHORT_SHA)
  const url = commitURL(resource.target, sha)
  const upToDate = landed.outcome === 'unchanged'
  return {
    reason: upToDate ? 'UpToDate' : 'Succeeded',
    message: upToDate
      ? `The branch ${branch} already holds ${files > 1 ? `all ${files} files` : `this content at ${path}`}; no commit was needed.`
      : `Committed as ${shortSHA} to the branch ${branch} at ${path}${files > 1 ? ` and ${files - 1} more` : ''}.`,
    commit: { sha, shortSHA, branch, path, ...(url === undefined ? {} : { url }) },
    credentialsUsed,
  }
}
