import type { Access, Review, ServedKind } from './access.ts'
import type { SigningRules } from '../signing/operator-signing.ts'
import type { GateSettings } from './settings.ts'
import type { UserInfo } from '../requester/user-info.ts'

/** The operator's settings that decide about a resource. */
export type OperatorRules = Pick<GateSettings, 'referenceScope' | 'allowedRepositories' | 'insecureHosts'> &
  SigningRules

/** Everything that the decision about a resource needs. If one of its functions throws a Failure, nothing is decided. */
export interface ReviewContext extends OperatorRules {
  /** The resource's own namespace, as the API server reports it. */
  readonly namespace: string
  /** Whose rights count. */
  readonly subject: UserInfo
  /** Asks whether the subject has an access. */
  readonly review: Review
  /** Looks up a kind by discovery; undefined if the cluster does not know it. */
  readonly discover: (apiVersion: string, kind: string) => Promise<ServedKind | undefined>
}

/** The cluster that the webhook and the function ask, and their operator's settings. */
export interface ReviewSources {
  readonly cluster: Pick<ReviewContext, 'discover'> & {
    readonly reviewAccess: (user: UserInfo, access: Access) => Promise<boolean>
  }
  readonly settings: OperatorRules
}

/** The context of one decision, both at apply and at an attempt: about this subject in this namespace. */
export function reviewContextOf(
  subject: UserInfo,
  namespace: string,
  { cluster, settings }: ReviewSources,
): ReviewContext {
  const { requireSigning, defaultSigning } = settings
  return {
    namespace,
    subject,
    review: (access) => cluster.reviewAccess(subject, access),
    discover: (apiVersion, kind) => cluster.discover(apiVersion, kind),
    referenceScope: settings.referenceScope,
    allowedRepositories: settings.allowedRepositories,
    insecureHosts: settings.insecureHosts,
    ...(requireSigning === undefined ? {} : { requireSigning }),
    ...(defaultSigning === undefined ? {} : { defaultSigning }),
  }
}
