import { isForbidden, retryForbidden } from '../cluster/rbac-retry.ts'
import { requireTime } from '../domain/deadline.ts'
import { Failure } from '../domain/failure.ts'
import { failureOf, judge } from '../domain/gate/gate.ts'
import type { Verdict } from '../domain/gate/gate.ts'
import { reviewContextOf } from '../domain/gate/review-context.ts'
import type { ReviewContext } from '../domain/gate/review-context.ts'
import { requesterOf } from '../domain/requester/requester.ts'
import type { Requester } from '../domain/requester/requester.ts'
import type { Envelope } from '../domain/resource/resource.ts'
import { requireSound } from '../domain/schema/parse.ts'
import type { Parsed, SoundResource } from '../domain/schema/parse.ts'
import type { World } from '../world.ts'

/** The requester of a resource, and what the gate has just decided for them. */
export interface Authorised {
  readonly requester: Requester
  readonly verdict: Verdict
}

type Reviewing = Pick<World, 'cluster' | 'settings' | 'now'>

/**
 * Repeats the decision of admission at the attempt: the stamp has to be present and valid, and the requester that it
 * names must still have every right. A denial counts only if a second review, one second later, confirms it: it ends the
 * attempt for good, and admission may have called another API server. Throws one Failure for all field errors, and
 * Timeout, or the Failure that is the signal's reason, if the signal fires before all rights are reviewed.
 */
export async function authorise(
  resource: SoundResource,
  world: Reviewing,
  signal: AbortSignal,
): Promise<Authorised> {
  const { requester, context } = reviewing(resource, world, signal)
  const judgeNow = async (): Promise<Verdict> => {
    const verdict = await judge(resource, context)
    const failure = failureOf(verdict)
    if (failure !== undefined) throw failure
    return verdict
  }
  const { cluster } = world
  return { requester, verdict: await retryForbidden(judgeNow, isForbidden, { cluster, signal }) }
}

/**
 * Begins the reviews that `authorise` is about to ask for, so that they run while the resource is claimed. It decides
 * nothing: `authorise` asks for each again, and the cluster answers with the reviews in flight, or with those that have
 * just allowed. Nothing more is asked for once the signal has fired.
 */
export function reviewAhead(
  { envelope, parsed }: { readonly envelope: Envelope; readonly parsed: Parsed },
  world: Reviewing,
  signal: AbortSignal,
): void {
  async function review(): Promise<void> {
    const resource = requireSound(envelope, parsed)
    await judge(resource, reviewing(resource, world, signal).context)
  }
  // `authorise` meets the same failure.
  review().catch(() => undefined)
}

function reviewing(
  resource: SoundResource,
  { cluster, settings, now }: Reviewing,
  signal: AbortSignal,
): { readonly requester: Requester; readonly context: ReviewContext } {
  const { stampKey: key, olderStampKeys: olderKeys, delegation } = settings
  const { namespace } = resource.metadata
  const requester = requesterOf(resource, { key, olderKeys, delegation, now: now() }, resource.written)
  // One GitCommit may name a thousand objects.
  const asking: Pick<typeof cluster, 'discover' | 'reviewAccess'> = {
    async discover(apiVersion, kind) {
      requireTime(signal, outOfTime)
      return cluster.discover(apiVersion, kind, { namespace })
    },
    async reviewAccess(user, access) {
      requireTime(signal, outOfTime)
      return cluster.reviewAccess(user, access, { namespace })
    },
  }
  return {
    requester,
    context: reviewContextOf(requester.subject, namespace, { cluster: asking, settings }),
  }
}

function outOfTime(cause: unknown): Failure {
  const message =
    'The attempt ran out of time before the rights of its requester were reviewed; Commitlet retries automatically.'
  return new Failure('Timeout', message, { cause })
}
