import { claim, isAtInsecureHost } from './claim.ts'
import type { Claim, Claimable, Newer } from './claim.ts'
import { costOf } from './cost.ts'
import { mayStart } from '../domain/resource/attempt-state.ts'
import { unlessAborted } from '../domain/deadline.ts'
import { Failure, asFailure } from '../domain/failure.ts'
import { parse, requireSound } from '../domain/schema/parse.ts'
import type { ObjectRef } from '../domain/resource/resource.ts'
import type { Outcome } from '../domain/resource/status.ts'
import type { Find } from './find.ts'
import { commitObject } from '../commit/commit-object.ts'
import { openPullRequest } from '../pull-request/open-pull-request.ts'
import { reviewAhead } from '../login/authorise.ts'
import { report } from './report.ts'
import { writeResult } from './write-result.ts'
import type { Release } from '../domain/network/budget.ts'
import type { Cost, World } from '../world.ts'

/** After the deadline, pending calls have this long to report what they were waiting for. */
const GRACE_MS = 500

/**
 * Handles an event: reads the resource, stops if there is nothing to do, and otherwise makes one attempt and writes its
 * result. If a newer generation arrived in the meantime, it makes an attempt for that one immediately afterwards.
 * Throws a Failure only if nothing could be written: the sender or a sweep then sends the event again.
 */
export async function handle(ref: ObjectRef, find: Find, world: World): Promise<void> {
  const found = await findDue(ref, find, world)
  let next: Newer | undefined = found && { newer: found }
  let share: Share | undefined
  try {
    while (next !== undefined) {
      share = await shareFor(next, share, world)
      if (share === undefined) return
      reviewAhead(next.newer, world)
      const current: Claim | Newer | undefined = await claim(next.newer, world, next.heldBefore)
      next = current === undefined || 'newer' in current ? current : await attempt(current, world)
    }
  } finally {
    share?.release()
  }
}

/** The resource of the event, if an attempt may start. The whole object, which may be large, is not kept. */
async function findDue(ref: ObjectRef, find: Find, world: World): Promise<Claimable | undefined> {
  const found = await find(ref)
  if (found === undefined || !mayStart(found.envelope, world.now())) return undefined
  return { envelope: found.envelope, parsed: parse(found.whole) }
}

/** What an attempt holds of the pod. */
interface Share {
  readonly cost: Cost
  readonly host: string
  readonly release: Release
}

/** The share for this spec: the one that is held, if it fits. Undefined if the same resource already waits for one. */
async function shareFor(
  { newer: { envelope, parsed }, heldBefore }: Newer,
  before: Share | undefined,
  { acquire }: World,
): Promise<Share | undefined> {
  const { kind, metadata } = envelope
  const cost = costOf(kind, parsed)
  const host = parsed.target?.address.host ?? ''
  if (before?.host === host && before.cost === cost) return before
  before?.release()
  const { namespace, name, generation } = metadata
  // Nobody else can take up what we have claimed: an event for it that waits as well does not count.
  const own = heldBefore === undefined ? '' : ` ${generation}`
  const release = await acquire(cost, { namespace, host, resource: `${kind} ${namespace}/${name}${own}` })
  return release === undefined ? undefined : { cost, host, release }
}

/** One attempt, from claim to written status. Returns a newer generation, if there is one. */
async function attempt(current: Claim, world: World): Promise<Newer | undefined> {
  const began = world.now()
  const { attemptDeadline } = world.settings
  const deadline = AbortSignal.timeout(attemptDeadline * 1000)
  const onTimeout = (): Failure => outOfTime(attemptDeadline)
  const result = await unlessAborted(run(current, world, deadline), graceAfter(deadline), onTimeout).catch(
    asFailure,
  )
  const settled = await writeResult(current.envelope, result, world)
  const insecure = isAtInsecureHost(current.parsed, world.settings)
  await report({ claim: current.envelope, result, began, settled, insecure }, world)
  const { newer } = settled
  if (newer === undefined) return undefined
  const parsed = parse(newer.whole)
  return { newer: { envelope: newer.envelope, parsed }, heldBefore: current.envelope }
}

async function run(current: Claim, world: World, signal: AbortSignal): Promise<Outcome> {
  const resource = requireSound(current.envelope, current.parsed)
  const attempt = { again: current.again, signal }
  if (resource.kind === 'PullRequest') return openPullRequest(resource, world, attempt)
  return commitObject(resource, world, attempt)
}

/** Fires shortly after the deadline: not every call can be aborted, but the attempt no longer waits for it. */
function graceAfter(deadline: AbortSignal): AbortSignal {
  const over = new AbortController()
  deadline.addEventListener('abort', () => setTimeout(() => over.abort(), GRACE_MS), { once: true })
  return over.signal
}

function outOfTime(seconds: number): Failure {
  return new Failure(
    'Timeout',
    `The attempt took longer than its limit of ${seconds} s; Commitlet retries automatically.`,
  )
}
