import { isForbidden, retryForbidden } from '../cluster/rbac-retry.ts'
import { failureOf, judge } from '../domain/gate/gate.ts'
import type { Verdict } from '../domain/gate/gate.ts'
import { reviewContextOf } from '../domain/gate/review-context.ts'
import { requesterOf } from '../domain/requester/requester.ts'
import type { Requester } from '../domain/requester/requester.ts'
import type { SoundResource } from '../domain/schema/parse.ts'
import type { World } from '../world.ts'

/** The requester of a resource, and what the gate has just decided for them. */
export interface Authorised {
  readonly requester: Requester
  readonly verdict: Verdict
}

/**
 * Repeats the decision of admission at the attempt: the stamp has to be present and valid, and the requester that it
 * names must still have every right. A denial counts only if a second review, one second later, confirms it: it ends the
 * attempt for good, and admission may have called another API server. Throws one Failure for all field errors, and
 * Timeout if the signal fires in between.
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
    const failure = failureOf(verdict)
    if (failure !== undefined) throw failure
    return verdict
  }
  return { requester, verdict: await retryForbidden(judgeNow, isForbidden, signal) }
}
