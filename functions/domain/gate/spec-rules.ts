import { parseRepositoryAddress } from '../repository/address.ts'
import type { RepositoryAddress } from '../repository/address.ts'
import { branchComplaint } from '../repository/branch-name.ts'
import { controlComponent, pathComplaint } from '../repository/committed-path.ts'
import { Failure } from '../failure.ts'
import { fieldError } from '../field-error.ts'
import type { FieldError } from '../field-error.ts'
import { member, textMember } from '../json-value.ts'
import { ALLOWED_PATHS } from '../resource/resource.ts'
import type { Kind } from '../resource/resource.ts'
import { credentialErrors } from './credentials-rules.ts'
import { providerErrors } from './provider-rules.ts'
import { withinBounds } from '../schema/bounds.ts'
import { GITCOMMIT_SPEC } from '../schema/git-commit.ts'
import { PULLREQUEST_SPEC } from '../schema/pull-request.ts'

/** Most bytes of a commit message. */
const MESSAGE_BYTES = 65_536

/** The line ends of every reader of commit messages, LF and CR first of all. */
const LINE_ENDS = /[\n\v\f\r\u0085\u2028\u2029]/u
const RESERVED_LINE = /^(?:commitlet-|requested-by\s*:)/iu
/** Git ends a message where such a line stands alone behind "#" (wt_status_locate_end() of its wt-status.c). */
const SCISSORS = '------------------------ >8 ------------------------'

/**
 * What is wrong with a spec that the schema cannot say. The spec may be faulty by its schema as well: each rule
 * looks at what it can use, so that its author learns everything at once. A text that is too long is not read.
 */
export function specErrors(kind: Kind, written: unknown): readonly FieldError[] {
  const spec = withinBounds(written, kind === 'GitCommit' ? GITCOMMIT_SPEC : PULLREQUEST_SPEC)
  const { address, fieldErrors } = readAddress(spec)
  return [
    ...fieldErrors,
    ...(kind === 'GitCommit' ? gitCommitErrors(spec) : joinErrors(spec)),
    ...providerErrors(kind, spec, address),
    ...credentialErrors({ kind, spec, address }),
  ]
}

/** What the author should know though nothing is wrong with the spec by itself. */
export function specWarnings(written: unknown): readonly string[] {
  const spec = withinBounds(written, GITCOMMIT_SPEC)
  const path = textMember(member(spec, 'resourceRef'), 'path') ?? ''
  if (pathComplaint(path) !== undefined || controlComponent(path) === undefined) return []
  return [
    'spec.resourceRef.path is that of a file that steers Git or the host: it is written only where the annotation ' +
      `${ALLOWED_PATHS} of the Secret covers it.`,
  ]
}

function readAddress(spec: unknown): {
  readonly address: RepositoryAddress | undefined
  readonly fieldErrors: readonly FieldError[]
} {
  const text = textMember(spec, 'repository')
  if (text === undefined) return { address: undefined, fieldErrors: [] }
  try {
    return { address: parseRepositoryAddress(text), fieldErrors: [] }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    const { reason, message } = error
    return { address: undefined, fieldErrors: [{ reason, field: 'spec.repository', message }] }
  }
}

function gitCommitErrors(spec: unknown): readonly FieldError[] {
  const reference = member(spec, 'resourceRef')
  const isSecret = member(reference, 'apiVersion') === 'v1' && member(reference, 'kind') === 'Secret'
  const path = textMember(reference, 'path')
  const pathFault = path === undefined || path === '' ? undefined : pathComplaint(path)
  return [
    ...branchErrors(spec, ['branch']),
    ...messageErrors(textMember(spec, 'message') ?? ''),
    ...(isSecret
      ? [
          fieldError(
            'spec.resourceRef.kind',
            'is Secret, which is never committed in clear; refer to another kind.',
          ),
        ]
      : []),
    ...(pathFault === undefined ? [] : [fieldError('spec.resourceRef.path', pathFault)]),
  ]
}

function joinErrors(spec: unknown): readonly FieldError[] {
  const fieldErrors = branchErrors(spec, ['baseBranch', 'headBranch'])
  const [base, head] = [textMember(spec, 'baseBranch') ?? '', textMember(spec, 'headBranch')]
  if (fieldErrors.length > 0 || base === '' || base !== head) return fieldErrors
  const complaint =
    'is the same branch as spec.baseBranch; write the name of the branch that holds the changes.'
  return [fieldError('spec.headBranch', complaint)]
}

function branchErrors(spec: unknown, fields: readonly string[]): readonly FieldError[] {
  return fields.flatMap((field) => {
    const written = textMember(spec, field)
    if (written === undefined || written === '') return []
    const name = field === 'headBranch' ? written.replace(/^[A-Za-z0-9_][A-Za-z0-9._-]*:/, '') : written
    const complaint = branchComplaint(name)
    return complaint === undefined
      ? []
      : [fieldError(`spec.${field}`, `${complaint}; choose another name for the branch.`)]
  })
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
