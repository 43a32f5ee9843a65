import { fieldError } from '../field-error.ts'
import type { FieldError } from '../field-error.ts'
import type { GitCommitSpec } from '../resource/resource.ts'
import type { Draft } from '../schema/draft.ts'
import type { Readable } from '../schema/parse.ts'
import { isSignedByDefault, isSigningRequired, type SigningRules } from './operator-signing.ts'

/** The errors in `spec.signing` that the spec alone shows. */
export function signingErrors({ signing }: Draft<GitCommitSpec>): readonly FieldError[] {
  if (signing?.format !== 'openpgp' || signing.privateKeyKey !== undefined) return []
  const complaint = 'is missing; name the key of the Secret that holds the OpenPGP key.'
  return [fieldError('spec.signing.privateKeyKey', complaint)]
}

/** The error of a GitCommit that is signed by nobody where the operator demands it. */
export function unsignedErrors(
  { kind, spec, target }: Readable,
  context: SigningRules & { readonly namespace: string },
): readonly FieldError[] {
  if (kind !== 'GitCommit' || spec.signing !== undefined || target === undefined) return []
  const { namespace } = context
  if (!isSigningRequired(context, target) || isSignedByDefault(context, { namespace, target })) return []
  const complaint =
    'is missing, but the operator demands signed commits in this repository (REQUIRE_SIGNING); name the Secret of a signing key there.'
  return [fieldError('spec.signing', complaint)]
}
