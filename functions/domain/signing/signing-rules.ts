import { fieldError } from '../field-error.ts'
import type { FieldError } from '../field-error.ts'
import type { GitCommitSpec } from '../spec/spec.ts'
import type { Draft } from '../schema/draft.ts'
import type { Readable } from '../schema/parse.ts'
import type { Target } from '../repository/target.ts'
import { isSignedByDefault, isSigningRequired, type SigningRules } from './operator-signing.ts'

/** The errors in `spec.signing` that the spec alone shows. */
export function signingErrors({ signing }: Draft<GitCommitSpec>): readonly FieldError[] {
  if (signing?.format !== 'openpgp' || signing.privateKeyKey !== undefined) return []
  const complaint = 'is missing; name the key of the Secret that holds the OpenPGP key.'
  return [fieldError('spec.signing.privateKeyKey', complaint)]
}

/** The errors in `spec.commitVia` that the spec alone shows. */
export function commitViaErrors({ kind, spec, target }: Readable): readonly FieldError[] {
  if (kind !== 'GitCommit' || spec.commitVia !== 'API') return []
  if (spec.signing !== undefined) {
    const complaint = 'is set together with commitVia: API, with which the host signs; set only one of them.'
    return [fieldError('spec.signing', complaint)]
  }
  const complaint = target === undefined ? undefined : apiComplaint(target)
  return complaint === undefined ? [] : [fieldError('spec.commitVia', complaint)]
}

function apiComplaint({ address, host, baseURL }: Target): string | undefined {
  if (address.scheme === 'ssh')
    return 'is API, which takes a token over HTTPS; write the https address of the repository.'
  if (host !== undefined && host.signsCommits !== true)
    return `is API, which is for GitHub alone, but the host is of the provider ${host.name}; leave it out.`
  if (host !== undefined && baseURL !== undefined) return undefined
  return 'is API, which needs that of a GitHub Enterprise Server; write provider: github and providerConfig.baseURL, such as https://github.example.com/api/v3.'
}

/** The error of a GitCommit that is signed by nobody where the operator demands it. */
export function unsignedErrors(
  { kind, spec, target }: Readable,
  context: SigningRules & { readonly namespace: string },
): readonly FieldError[] {
  if (kind !== 'GitCommit' || spec.signing !== undefined || target === undefined) return []
  // An Enterprise Server signs only if its administrator has set that up.
  if (spec.commitVia === 'API' && target.publicAPI !== undefined) return []
  const { namespace } = context
  if (!isSigningRequired(context, target) || isSignedByDefault(context, { namespace, target })) return []
  const complaint =
    'is missing, but the operator demands signed commits in this repository (REQUIRE_SIGNING); name the Secret of a signing key there.'
  return [fieldError('spec.signing', complaint)]
}
