import { Ajv } from 'ajv'
import type { ValidateFunction } from 'ajv'
import type { GitCommitSpec, PullRequestSpec } from '../resource/resource.ts'
import { boundedFirst, isLonger } from './bounds.ts'
import { GITCOMMIT_SPEC } from './git-commit.ts'
import { PULLREQUEST_SPEC } from './pull-request.ts'

// Compiling takes longer than the rest of the start, so it is done once, for the first resource of each kind.
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

function compiler(): Ajv {
  const ajv = new Ajv({
    allErrors: true,
    verbose: true,
    ownProperties: true,
    strictTypes: false,
    // A test checks our schemas against the meta-schema; doing it here would take a third of the compile time.
    meta: false,
    validateSchema: false,
  })
  ajv.addVocabulary([
    'expects',
    'x-kubernetes-map-type',
    'x-kubernetes-list-type',
    'x-kubernetes-list-map-keys',
    'x-kubernetes-validations',
  ])
  // ajv's own keywords always read the whole string.
  replaceKeyword(ajv, 'minLength', (limit, text) => isLonger(text, limit - 1))
  replaceKeyword(ajv, 'maxLength', (limit, text) => !isLonger(text, limit))
  ajv.addFormat('int32', true).addFormat('int64', true)
  ajv.addFormat('date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/)
  return ajv
}

function replaceKeyword(ajv: Ajv, keyword: string, validate: (limit: number, text: string) => boolean): void {
  ajv.removeKeyword(keyword).addKeyword({ keyword, type: 'string', schemaType: 'number', validate })
}
