import { branchComplaint } from '../repository/branch-name.ts'
import { controlComponent, pathComplaint } from '../repository/committed-path.ts'
import { fieldError } from '../field-error.ts'
import type { FieldError } from '../field-error.ts'
import { ALLOWED_PATHS } from '../resource/resource.ts'
import type { GitCommitSpec, PullRequestSpec } from '../resource/resource.ts'
import type { Draft } from '../schema/draft.ts'
import type { Readable } from '../schema/parse.ts'
import { credentialErrors } from './credentials-rules.ts'
import { providerErrors } from './provider-rules.ts'

/** Most bytes of a commit message. */
const MESSAGE_BYTES = 65_536

/** The line ends of every reader of commit messages, LF and CR first of all. */
const LINE_ENDS = /[\n\v\f\r\u0085\u2028\u2029]/u
/** What stands before the branch of a fork. */
const OWNER = /^[A-Za-z0-9_][A-Za-z0-9._-]*:/
const RESERVED_LINE = /^(?:commitlet-|requested-by\s*:)/iu
/** Git ends a message where such a line stands alone behind "#" (wt_status_locate_end() of its wt-status.c). */
const SCISSORS = '------------------------ >8 ------------------------'

/**
 * Everything that the spec alone shows to be wrong: what parsing has found, and what the rules find that no schema can
 * say. The spec may be faulty by its schema as well: each rule looks at what it can use, so that its author learns
 * everything at once.
 */
export function specErrors(parsed: Readable): readonly FieldError[] {
  const rules = [
    ...(parsed.kind === 'GitCommit' ? gitCommitErrors(parsed.spec) : joinErrors(parsed.spec)),
    ...providerErrors(parsed),
    ...credentialErrors(parsed),
  ]
  // A rule knows better what is wrong with a text than the pattern that it does not match.
  return [...without(parsed.fieldErrors, rules), ...rules]
}

/** What the author should know though nothing is wrong with the spec by itself. */
export function specWarnings(parsed: Readable): readonly string[] {
  const path = (parsed.kind === 'GitCommit' ? parsed.spec.resourceRef?.path : undefined) ?? ''
  if (pathComplaint(path) !== undefined || controlComponent(path) === undefined) return []
  return [
    'spec.resourceRef.path is that of a file that steers Git or the host: it is written only where the annotation ' +
      `${ALLOWED_PATHS} of the Secret covers it.`,
  ]
}

/** The errors whose fields none of the others speaks of. */
export function without(
  fieldErrors: readonly FieldError[],
  others: readonly FieldError[],
): readonly FieldError[] {
  return fieldErrors.filter(({ field }) => !others.some((other) => other.field === field))
}

function gitCommitErrors({ branch, message, resourceRef }: Draft<GitCommitSpec>): readonly FieldError[] {
  const isSecret = resourceRef?.apiVersion === 'v1' && resourceRef.kind === 'Secret'
  const path = resourceRef?.path ?? ''
  const pathError = path === '' ? undefined : pathComplaint(path)
  return [
    ...branchErrors('spec.branch', branch ?? ''),
    ...messageErrors(message ?? ''),
    ...(isSecret
      ? [
          fieldError(
            'spec.resourceRef.kind',
            'is Secret, which is never committed in clear; refer to another kind.',
          ),
        ]
      : []),
    ...(pathError === undefined ? [] : [fieldError('spec.resourceRef.path', pathError)]),
  ]
}

function joinErrors(spec: Draft<PullRequestSpec>): readonly FieldError[] {
  const base = spec.baseBranch ?? ''
  const head = spec.headBranch ?? ''
  const fieldErrors = [
    ...branchErrors('spec.baseBranch', base),
    ...branchErrors('spec.headBranch', head.replace(OWNER, '')),
  ]
  if (fieldErrors.length > 0 || base === '' || base !== head) return fieldErrors
  const complaint =
    'is the same branch as spec.baseBranch; write the name of the branch that holds the changes.'
  return [fieldError('spec.headBranch', complaint)]
}

function branchErrors(field: string, name: string): readonly FieldError[] {
  const complaint = name === '' ? undefined : branchComplaint(name)
  return complaint === undefined
    ? []
    : [fieldError(field, `${complaint}; choose another name for the branch.`)]
}

function messageErrors(message: string): readonly FieldError[] {
  const field = 'spec.message'
  if (!message.isWellFormed())
    return [fieldError(field, 'contains half a character (a lone surrogate); mend it.')]
  const bytes = Buffer.byteLength(message)
  if (bytes > MESSAGE_BYTES) {
    return [
      fieldError(field, `has ${bytes} bytes, but at most ${MESSAGE_BYTES} are allowed; make it shorter.`),
    ]
  }
  if (message.includes(SCISSORS)) {
    return [
      fieldError(field, 'holds a scissors line ("---- >8 ----"), at which Git ends a message; leave it out.'),
    ]
  }
  const lines = message.split(LINE_ENDS)
  const reserved = lines.findIndex((line) => RESERVED_LINE.test(line.trimStart()))
  if (reserved < 0) return []
  const complaint =
    `begins line ${reserved + 1} with "Commitlet-" or "Requested-by:", which Commitlet alone writes; ` +
    'leave that line out.'
  return [fieldError(field, complaint)]
}
