import type { ValidateFunction } from 'ajv'
import type { GitCommitSpec, PullRequestSpec } from '../spec/spec.ts'
import { boundedFirst } from './bounds.ts'
import { compiler } from './compiler.ts'
import { GITCOMMIT_SPEC } from '../crd/git-commit.ts'
import { PULLREQUEST_SPEC } from '../crd/pull-request.ts'

// Compiling takes longer than the rest of the start, so it is done once, for the first resource of each kind. A bundle
// has what is compiled in place of this file (compiledValidators in build-plugins.ts).
const compiled: {
  gitCommit?: ValidateFunction<GitCommitSpec>
  pullRequest?: ValidateFunction<PullRequestSpec>
} = {}

/** Checks whether a value is the spec of a GitCommit. Its `errors` are those of the last call. */
export function gitCommitSpecValidator(): ValidateFunction<GitCommitSpec> {
  compiled.gitCommit ??= compiler().compile<GitCommitSpec>(boundedFirst(GITCOMMIT_SPEC))
  return compiled.gitCommit
}

/** The same for a PullRequest. */
export function pullRequestSpecValidator(): ValidateFunction<PullRequestSpec> {
  compiled.pullRequest ??= compiler().compile<PullRequestSpec>(boundedFirst(PULLREQUEST_SPEC))
  return compiled.pullRequest
}
