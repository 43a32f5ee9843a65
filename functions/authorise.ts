import { failureOf, judge } from './domain/gate.ts'
import type { Verdict } from './domain/gate.ts'
import type { Resource } from './domain/resources.ts'
import { requesterOf } from './domain/requester.ts'
import type { Requester } from './domain/requester.ts'
import type { World } from './world.ts'

/** Who asked for a resource, and what that person was found to be allowed just now. */
export interface Authorised {
  readonly requester: Requester
  readonly verdict: Verdict
}

/**
 * Decides again, at the attempt, what admission decided: the stamp has to be there and to fit, and the one whom it
 * names has to have every right still. Throws the Failure of all faults together.
 */
export async function authorise(resource: Resource, { cluster, settings }: World): Promise<Authorised> {
  const requester = requesterOf(resource, { key: settings.stampKey, delegation: settings.delegation })
  const { subject } = requester
  const verdict = await judge(resource, {
    namespace: resource.metadata.namespace,
    subject,
    review: (access) => cluster.reviewAccess(subject, access),
    discover: (apiVersion, kind) => cluster.discover(apiVersion, kind),
    referenceScope: settings.referenceScope,
    allowedRepositories: settings.allowedRepositories,
  })
  const refusal = failureOf(verdict)
  if (refusal !== undefined) throw refusal
  return { requester, verdict }
}
