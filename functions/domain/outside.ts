import type { Access, Review, ServedKind } from './access.ts'
import type { GateSettings } from './gate-settings.ts'
import type { UserInfo } from './user-info.ts'

/** What the operator allows, as far as a resource is judged by it. */
export type Allowance = Pick<GateSettings, 'referenceScope' | 'allowedRepositories' | 'insecureHosts'>

/** What the decision about a resource needs of the outside. Its functions may throw a Failure: then nothing is decided. */
export interface Outside extends Allowance {
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
export interface Asked {
  readonly cluster: Pick<Outside, 'discover'> & {
    readonly reviewAccess: (user: UserInfo, access: Access) => Promise<boolean>
  }
  readonly settings: Allowance
}

/** The outside of one decision, at apply and at the attempt alike: the rights of this person, in this namespace. */
export function outsideOf(subject: UserInfo, namespace: string, { cluster, settings }: Asked): Outside {
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
