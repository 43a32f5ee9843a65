import { setTimeout as pause } from 'node:timers/promises'
import { commitObject } from '../../functions/commit/commit-object.ts'
import { asFailure, Failure } from '../../functions/domain/failure.ts'
import { nextDelay } from '../../functions/domain/resource/backoff.ts'
import type { Outcome } from '../../functions/domain/resource/status.ts'
import { requireSound } from '../../functions/domain/schema/parse.ts'
import { openPullRequest } from '../../functions/pull-request/open-pull-request.ts'
import type { LocalResource } from '../local/resource.ts'
import type { Site } from '../local/site.ts'

/** How long a resource is tried for, and who is told meanwhile. */
export interface Patience {
  readonly seconds: number
  readonly signal: AbortSignal
  /** Told of each attempt that has failed and is repeated. */
  readonly retrying: (failure: Failure, inSeconds: number) => void
}

/** With this many attempts the pauses of a transient failure are longer than any pipeline waits. */
const ATTEMPTS = 100

/**
 * Carries out a resource as the function does, and repeats the attempt as the function does while a failure is transient
 * and there is time. Missing objects stay missing in files, and nobody mends a Secret meanwhile.
 * @throws Failure
 */
export async function carryOut(
  { envelope, parsed }: LocalResource,
  site: Site,
  { patience, again }: { readonly patience: Patience; readonly again: boolean },
): Promise<Outcome> {
  const resource = requireSound(envelope, parsed)
  const began = performance.now()
  for (let attempts = 1; ; attempts += 1) {
    const attempt = site.attempt(again || attempts > 1)
    const work =
      resource.kind === 'GitCommit'
        ? commitObject(resource, site.world, attempt)
        : openPullRequest(resource, site.world, attempt)
    const ended = await work.catch(asFailure)
    if (!(ended instanceof Failure)) return ended
    const elapsedSeconds = (performance.now() - began) / 1000
    const history = { attempts, limit: ATTEMPTS, elapsedSeconds, random: site.world.random() }
    const delay = ended.retry === 'transient' ? nextDelay(ended, history) : 'final'
    if (typeof delay !== 'number' || elapsedSeconds + delay > patience.seconds) throw ended
    patience.retrying(ended, delay)
    await pause(delay * 1000, undefined, { signal: patience.signal }).catch(() => {
      throw ended
    })
  }
}
