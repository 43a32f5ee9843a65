import { allows } from '../repository/allowed-repositories.ts'
import type { Failure } from '../failure.ts'
import { failureOfFieldErrors, fieldError } from '../field-error.ts'
import type { FieldError } from '../field-error.ts'
import { judgeReferences } from './references.ts'
import type { ServedKinds } from './references.ts'
import { forkErrors, judgeSecrets } from './secrets.ts'
import type { SecretRights } from './secrets.ts'
import type { ReviewContext } from './review-context.ts'
import { isInsecure } from '../repository/insecure-hosts.ts'
import type { Target } from '../repository/target.ts'
import { isReadable } from '../schema/parse.ts'
import type { Parsed } from '../schema/parse.ts'
import { unsignedErrors } from '../signing/signing-rules.ts'
import { specErrors, specWarnings, without } from './spec-rules.ts'

/** All errors of a resource, and the warnings for its author. */
export interface Verdict {
  readonly fieldErrors: readonly FieldError[]
  readonly warnings: readonly string[]
  /** How the referenced kinds were served when they were reviewed: only what was reviewed may be read. */
  readonly served: ServedKinds
  readonly secretRights: SecretRights
}

/**
 * The one decision about a resource, made at apply and again at each attempt: the errors of parsing, the rules, the
 * reference, and the rights of the requester. It reports all errors at once, but of each field only those of the first
 * check that finds any. If there are no errors, the resource may be processed.
 */
export async function judge(parsed: Parsed, context: ReviewContext): Promise<Verdict> {
  if (!isReadable(parsed)) return { ...NOTHING_KNOWN, fieldErrors: parsed.fieldErrors }
  const { kind, spec } = parsed
  const written = specErrors(parsed)
  const operators = [...repositoryErrors(parsed.target, written, context), ...unsignedErrors(parsed, context)]
  const fieldErrors = [...written, ...without(operators, written)]
  const [references, secrets] = await Promise.all([
    kind === 'GitCommit' ? judgeReferences(spec, fieldErrors, context) : undefined,
    judgeSecrets(spec, fieldErrors, context),
  ])
  const fork = kind === 'PullRequest' ? forkErrors(spec, secrets.rights) : []
  const others = [...(references?.fieldErrors ?? []), ...secrets.fieldErrors, ...fork]
  return {
    fieldErrors: [...fieldErrors, ...without(others, fieldErrors)],
    warnings: [...specWarnings(parsed), ...(references?.warnings ?? [])],
    served: references?.served ?? new Map(),
    secretRights: secrets.rights,
  }
}

/** The Failure of an attempt at a resource with errors: the reason of the first error, the messages of all. */
export function failureOf(verdict: Pick<Verdict, 'fieldErrors'>): Failure | undefined {
  return failureOfFieldErrors(verdict.fieldErrors)
}

const NOTHING_KNOWN: Verdict = { fieldErrors: [], warnings: [], served: new Map(), secretRights: {} }

// Checked before any name is looked up: a host that the operator does not allow is never called.
function repositoryErrors(
  target: Target | undefined,
  found: readonly FieldError[],
  { allowedRepositories, insecureHosts }: ReviewContext,
): readonly FieldError[] {
  if (target === undefined || found.some(({ field }) => field === 'spec.repository')) return []
  const { address, called } = target
  if (address.scheme === 'http' && !isInsecure(address, insecureHosts))
    return [
      fieldError('spec.repository', 'begins with http://, which is not encrypted; write https:// instead.'),
    ]
  if (allowedRepositories === undefined || called.every((one) => allows(allowedRepositories, one))) return []
  const complaint =
    'is not one of the repositories that the operator allows (ALLOWED_REPOSITORIES); name another, or ask your Commitlet operator.'
  return [fieldError('spec.repository', complaint, 'AddressForbidden')]
}
