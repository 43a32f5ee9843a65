import { ofNamespace } from '../credentials/default-credentials.ts'
import { allows } from '../repository/allowed-repositories.ts'
import { demands } from '../repository/demanded-repositories.ts'
import type { Target } from '../repository/target.ts'

/** What the operator has set about signatures: comma-separated lists as in the annotation of a Secret. */
export interface SigningRules {
  /** REQUIRE_SIGNING: repositories into which only signed commits go; left out: none. */
  readonly requireSigning?: string | undefined
  /**
   * DEFAULT_SIGNING_REPOSITORIES: where commits without `spec.signing` are signed with the operator's key; `{namespace}`
   * as a whole segment is the resource's namespace. Left out: nowhere.
   */
  readonly defaultSigning?: string | undefined
}

/** Whether the operator demands signatures there, however the address is spelled. */
export function isSigningRequired({ requireSigning }: SigningRules, { called }: Target): boolean {
  return requireSigning !== undefined && called.some((one) => demands(requireSigning, one))
}

/** Whether a commit without `spec.signing` is signed with the operator's key there. */
export function isSignedByDefault(
  { defaultSigning }: SigningRules,
  { namespace, target }: { readonly namespace: string; readonly target: Target },
): boolean {
  if (defaultSigning === undefined) return false
  const list = ofNamespace(defaultSigning, namespace)
  return target.called.every((one) => allows(list, one))
}
