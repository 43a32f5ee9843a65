import { isForbidden, retryForbidden } from '../cluster/rbac-retry.ts'
import { failureOf, judge } from '../domain/gate/gate.ts'
import type { Verdict } from '../domain/gate/gate.ts'
import { reviewContextOf } from '../domain/gate/review-context.ts'
import { requesterOf } from '../domain/requester/requester.ts'
import type { Requester } from '../domain/requester/requester.ts'
import type { SoundResource } from '../domain/schema/parse.ts'
import type { World } from '../world.ts'

/** Who asked for a resource, and what that person was found to be allowed just now. */
export interface Authorised {
  readonly requester: Requester
  readonly verdict: Verdict
}

/**
 * Decides again, at the attempt, what admission decided: the stamp has to be there and to fit, and the one whom it
 * names has to have every right still. A "no" is heard twice, a second apart, before it counts: it ends the attempt
 * for good, and admission may have asked another API server. Throws the Failure of all faults together, and Timeout
 * where the signal fires in between.
 */
export async function authorise(
  resource: SoundResource,
  { cluster, settings }: Pick<World, 'cluster' | 'settings'>,
  signal: AbortSignal,
): Promise<Authorised> {
  const requester = requesterOf(resource, { key: settings.stampKey, delegation: settings.delegation })
  const context = reviewContextOf(requester.subject, resource.metadata.namespace, { cluster, settings })
  const judgeNow = async (): Promise<Verdict> => {
    const verdict = await judge(resource, context)
    const refusal = failureOf(verdict)
    if (refusal !== undefined) throw refusal
    return verdict
  }
  return { requester, verdict: await retryForbidden(judgeNow, isForbidden, signal) }
}
