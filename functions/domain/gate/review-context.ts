import type { Access, Review, ServedKind } from './access.ts'
import type { GateSettings } from './settings.ts'
import type { UserInfo } from '../requester/user-info.ts'

/** What the operator allows, as far as a resource is judged by it. */
export type OperatorRules = Pick<GateSettings, 'referenceScope' | 'allowedRepositories' | 'insecureHosts'>

/** What the decision about a resource needs of the outside. Its functions may throw a Failure: then nothing is decided. */
export interface ReviewContext extends OperatorRules {
  /** The resource's own namespace, as the API server says it. */
  readonly namespace: string
  /** Whose rights count. */
  readonly subject: UserInfo
  /** Asks whether that person may do something. */
  readonly review: Review
  /** Looks a kind up by discovery; undefined where the cluster does not know it. */
  readonly discover: (apiVersion: string, kind: string) => Promise<ServedKind | undefined>
}

/** Whom both parts ask, and what their operator allows. */
export interface ReviewSources {
  readonly cluster: Pick<ReviewContext, 'discover'> & {
    readonly reviewAccess: (user: UserInfo, access: Access) => Promise<boolean>
  }
  readonly settings: OperatorRules
}

/** The outside of one decision, at apply and at the attempt alike: the rights of this person, in this namespace. */
export function reviewContextOf(
  subject: UserInfo,
  namespace: string,
  { cluster, settings }: ReviewSources,
): ReviewContext {
  return {
    namespace,
    subject,
    review: (access) => cluster.reviewAccess(subject, access),
    discover: (apiVersion, kind) => cluster.discover(apiVersion, kind),
    referenceScope: settings.referenceScope,
    allowedRepositories: settings.allowedRepositories,
    insecureHosts: settings.insecureHosts,
  }
}
