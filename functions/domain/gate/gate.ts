import type { ServedKind } from './access.ts'
import { parseRepositoryAddress } from '../repository/address.ts'
import type { RepositoryAddress } from '../repository/address.ts'
import { calledAddresses } from '../repository/api-endpoint.ts'
import { allows } from '../repository/allowed-repositories.ts'
import type { Failure } from '../failure.ts'
import { failureOfFaults, fieldError } from '../field-error.ts'
import type { FieldError } from '../field-error.ts'
import { forkErrors } from './secrets.ts'
import { judgeReference } from './reference.ts'
import { judgeSecrets } from './secrets.ts'
import type { SecretRights } from './secrets.ts'
import { member, textMember } from '../json-value.ts'
import type { ReviewContext } from './review-context.ts'
import { isInsecure } from '../repository/insecure-hosts.ts'
import { kindOf, schemaErrors } from '../schema/parse.ts'
import type { Kind } from '../resource/resource.ts'
import { specErrors, specWarnings } from './spec-rules.ts'

/** Everything that is wrong with a resource, and what its author should know besides. */
export interface Verdict {
  readonly fieldErrors: readonly FieldError[]
  readonly warnings: readonly string[]
  /** How the referenced kind was served when it was judged: only what was judged may be read. */
  readonly served: ServedKind | undefined
  readonly secretRights: SecretRights
}

/**
 * The one decision about a resource, made at apply and again at each attempt: schema, rules, reference, and the
 * rights of who asks. The object need not be stored yet and may be anything at all.
 * All faults at once: what a check finds of a field is left out where one before it speaks of that field. No faults
 * means that it may be carried out.
 */
export async function judge(resource: unknown, context: ReviewContext): Promise<Verdict> {
  const kind = kindOf(resource)
  const shape = schemaErrors(resource)
  if (kind === undefined) return { ...NOTHING_KNOWN, fieldErrors: shape }
  const spec = member(resource, 'spec')
  const rules = specErrors(kind, spec)
  // A rule knows better what is wrong with a text than the pattern that it does not match.
  const written = [...without(shape, rules), ...rules]
  const fieldErrors = [...written, ...repositoryErrors({ kind, spec }, written, context)]
  const [reference, secrets] = await Promise.all([
    kind === 'GitCommit' ? judgeReference(spec, fieldErrors, context) : undefined,
    judgeSecrets(spec, fieldErrors, context),
  ])
  const fork = kind === 'PullRequest' ? forkErrors(spec, secrets.rights) : []
  const others = [...(reference?.fieldErrors ?? []), ...secrets.fieldErrors, ...fork]
  return {
    fieldErrors: [...fieldErrors, ...without(others, fieldErrors)],
    warnings: [...specWarnings(spec), ...(reference?.warnings ?? [])],
    served: reference?.served,
    secretRights: secrets.rights,
  }
}

/** The Failure with which an attempt at a faulty resource ends: the first fault's reason, every fault's sentence. */
export function failureOf(verdict: Pick<Verdict, 'fieldErrors'>): Failure | undefined {
  return failureOfFaults(verdict.fieldErrors)
}

const NOTHING_KNOWN: Verdict = { fieldErrors: [], warnings: [], served: undefined, secretRights: {} }

/** The faults whose fields none of the others speaks of. */
function without(fieldErrors: readonly FieldError[], others: readonly FieldError[]): readonly FieldError[] {
  return fieldErrors.filter(({ field }) => !others.some((other) => other.field === field))
}

// Before any name is looked up: what the operator does not allow is not even called.
function repositoryErrors(
  { kind, spec }: { readonly kind: Kind; readonly spec: unknown },
  found: readonly FieldError[],
  { allowedRepositories, insecureHosts }: ReviewContext,
): readonly FieldError[] {
  const text = textMember(spec, 'repository')
  const faulty = found.some(({ field }) => field === 'spec.repository')
  if (text === undefined || faulty) return []
  const address = parseRepositoryAddress(text)
  if (address.scheme === 'http' && !isInsecure(address, insecureHosts))
    return [
      fieldError('spec.repository', 'begins with http://, which is not encrypted; write https:// instead.'),
    ]
  const covers = (called: RepositoryAddress): boolean =>
    allowedRepositories === undefined || allows(allowedRepositories, called)
  if (calledAddresses(kind, address).every(covers)) return []
  const complaint =
    'is not one of the repositories that the operator allows (ALLOWED_REPOSITORIES); name another, or ask whoever runs Commitlet.'
  return [fieldError('spec.repository', complaint, 'AddressForbidden')]
}
