import { branchComplaint, shortBranchName } from '../repository/branch-name.ts'
import { writtenPaths } from '../commit/written-paths.ts'
import { controlComponent, pathComplaint } from '../repository/committed-path.ts'
import type { WrittenPath } from '../repository/committed-path.ts'
import { hasMovedLine, HAS_MOVED_LINE } from '../repository/moved-words.ts'
import { fieldError } from '../field-error.ts'
import type { FieldError } from '../field-error.ts'
import { ALLOWED_PATHS } from '../resource/api-names.ts'
import type { GitCommitSpec, PullRequestSpec } from '../spec/spec.ts'
import type { Draft } from '../schema/draft.ts'
import type { Readable } from '../schema/parse.ts'
import { isCredentialError } from '../schema/credential-errors.ts'
import { credentialErrors } from './credentials-rules.ts'
import { filesErrors, templateWarnings } from './files-rules.ts'
import { likelyMistakes, pageErrors } from './likely-mistakes.ts'
import { providerErrors } from './provider-rules.ts'
import { commitViaErrors, signingErrors } from '../signing/signing-rules.ts'

/** Maximum bytes of a commit message. */
const MESSAGE_BYTES = 65_536

/** The line ends of every reader of commit messages, LF and CR first of all. */
const LINE_ENDS = /[\n\v\f\r\u0085\u2028\u2029]/u
/** What a terminal acts on instead of showing it; line ends and tabs are text. */
const CONTROLS = /[^\P{Cc}\t\n\v\f\r\u0085]/u
/** What no page and no terminal shows. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu
/** The part before the branch of a fork. */
const OWNER = /^[A-Za-z0-9_][A-Za-z0-9._-]*:/
const RESERVED_LINE = /^(?:commitlet-|requested-by\s*:)/iu
/** Git ends a message at a line of "#" and this text (wt_status_locate_end() in its wt-status.c). */
const SCISSORS = '------------------------ >8 ------------------------'

/**
 * All errors that the spec alone shows: those of parsing, and those of the rules that no schema can express. The spec
 * may have errors of its schema: each rule checks the parts that it can use, so that the author sees all errors at once.
 */
export function specErrors(parsed: Readable): readonly FieldError[] {
  const pages = pageErrors(parsed.target)
  const found = [
    ...(parsed.kind === 'GitCommit' ? gitCommitErrors(parsed.spec) : pullRequestBranchErrors(parsed.spec)),
    ...pages,
    ...without(providerErrors(parsed), pages),
    ...credentialErrors(parsed),
    ...commitViaErrors(parsed),
  ]
  // The error of a rule is more precise than that of a pattern, but no rule sees what looks like a credential.
  const rules = without(found, parsed.fieldErrors.filter(isCredentialError))
  return [...without(parsed.fieldErrors, rules), ...rules]
}

/** Warnings for the author about a spec that has no errors by itself. */
export function specWarnings(parsed: Readable): readonly string[] {
  const controlling = writtenPaths(parsed.spec).filter(
    ({ path }) => pathComplaint(path) === undefined && controlComponent(path) !== undefined,
  )
  const templates = parsed.kind === 'GitCommit' ? templateWarnings(parsed.spec) : []
  return [
    ...likelyMistakes(parsed),
    ...templates,
    ...controlling.map(
      ({ field }) =>
        `${field} is a file that configures Git or the host: it is written only if the annotation ` +
        `${ALLOWED_PATHS} of the Secret covers it.`,
    ),
  ]
}

/** The errors whose fields have no error in `others`. */
export function without(
  fieldErrors: readonly FieldError[],
  others: readonly FieldError[],
): readonly FieldError[] {
  const fields = new Set(others.map(({ field }) => field))
  return fieldErrors.filter(({ field }) => !fields.has(field))
}

function gitCommitErrors(spec: Draft<GitCommitSpec>): readonly FieldError[] {
  const { branch, message } = spec
  const paths = writtenPaths(spec).flatMap(pathErrors)
  return [
    ...branchErrors('spec.branch', branch ?? ''),
    ...messageErrors(message ?? ''),
    ...signingErrors(spec),
    ...without(filesErrors(spec), paths),
    ...paths,
  ]
}

function pathErrors({ field, path }: WrittenPath): readonly FieldError[] {
  if (path === '') return []
  const complaint = pathComplaint(path) ?? (hasMovedLine(path) ? HAS_MOVED_LINE : undefined)
  return complaint === undefined ? [] : [fieldError(field, complaint)]
}

function pullRequestBranchErrors(spec: Draft<PullRequestSpec>): readonly FieldError[] {
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
  if (complaint === undefined) return []
  const short = shortBranchName(name)
  const advice = short === undefined ? 'choose another name for the branch' : `write ${short} instead`
  return [fieldError(field, `${complaint}; ${advice}.`)]
}

function messageErrors(message: string): readonly FieldError[] {
  const field = 'spec.message'
  if (!message.isWellFormed())
    return [fieldError(field, 'contains half a character (a lone surrogate); fix it.')]
  const bytes = Buffer.byteLength(message)
  if (bytes > MESSAGE_BYTES) {
    return [
      fieldError(field, `has ${bytes} bytes, but at most ${MESSAGE_BYTES} are allowed; make it shorter.`),
    ]
  }
  if (CONTROLS.test(message))
    return [fieldError(field, 'contains a control character other than a tab or a line end; leave it out.')]
  if (message.includes(SCISSORS)) {
    return [
      fieldError(field, 'holds a scissors line ("---- >8 ----"), at which Git ends a message; leave it out.'),
    ]
  }
  if (hasMovedLine(message)) return [fieldError(field, HAS_MOVED_LINE)]
  const lines = message.split(LINE_ENDS)
  const reserved = lines.findIndex((line) => RESERVED_LINE.test(line.replace(INVISIBLE, '').trimStart()))
  if (reserved < 0) return []
  const complaint =
    `begins line ${reserved + 1} with "Commitlet-" or "Requested-by:", which Commitlet alone writes; ` +
    'leave that line out.'
  return [fieldError(field, complaint)]
}
