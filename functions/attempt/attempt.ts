import { claim } from './claim.ts'
import type { Claim } from './claim.ts'
import { isSameRequest } from '../domain/resource/attempt-state.ts'
import { resourceAttributes } from '../domain/telemetry/spans.ts'
import { endWith, inSpan, type Beginning } from '../domain/telemetry/tracer.ts'
import { anySignal, OVER, unlessAborted } from '../domain/deadline.ts'
import { Failure, asFailure } from '../domain/failure.ts'
import { pushPlace } from '../domain/commit/push-place.ts'
import { awaitedAfter } from '../domain/resource/waiting.ts'
import { parse, requireSound } from '../domain/schema/parse.ts'
import type { ObjectRef } from '../domain/resource/resource.ts'
import type { ReferenceField } from '../domain/spec/spec.ts'
import type { Outcome } from '../domain/resource/status.ts'
import { leaveAlone } from './left-alone.ts'
import { findDue, isToBeFollowedUp, readInTurn, type Search } from './due.ts'
import type { Find } from './find.ts'
import { commitObject } from '../commit/commit-object.ts'
import { openPullRequest } from '../pull-request/open-pull-request.ts'
import { reviewAhead } from '../login/authorise.ts'
import { timeLimit } from '../net/time-limit.ts'
import { expectChange, turnFor } from './own-turn.ts'
import { report } from './report.ts'
import type { EngineUsed } from './report.ts'
import {
  afterFailure,
  afterLanding,
  latePushes,
  watchPushes,
  withLatePushes,
  type LatePushes,
} from '../domain/resource/late-push.ts'
import { traceWorld } from './traced-world.ts'
import { isWaitedFor, waitingFor, type WaitingAttempt } from './waiting-attempt.ts'
import { isFinal } from './status-writes.ts'
import { writeResult } from './write-result.ts'
import type { Attempt, Turn, World } from '../world.ts'

/** After the deadline, pending calls have this long to report what they were waiting for. */
const GRACE_MS = 500

/**
 * Handles an event: reads the resource, stops if there is nothing to do, and otherwise makes one attempt and writes its
 * result. If a newer generation arrived in the meantime, it makes an attempt for that one immediately afterwards. A
 * resource that waits for an object is only looked after, and one without room for its status is left alone for a while.
 * `awaited`: that object has changed since the attempt of this `lastAttemptTime`. Throws a Failure only if nothing could be
 * written, and may be later: the sender or a sweep then sends the event again.
 */
export async function handle(ref: ObjectRef, find: Find, world: World, awaited?: string): Promise<void> {
  if (world.leftAlone.has(ref) || (awaited === undefined && world.looks.ask(ref))) return
  try {
    await world.inPace(ref.namespace, (failedInPace) =>
      attemptAll(ref, find, { ...world, failedInPace }, awaited),
    )
  } catch (error) {
    if (!isFinal(error)) throw error
    await leaveAlone(ref, error, world)
  }
}

/** The same, of a resource that is not left alone. */
async function attemptAll(ref: ObjectRef, find: Find, world: World, awaited?: string): Promise<void> {
  const began = world.elapsed()
  const first = await findWaiting(ref, { find, awaited }, world)
  const arrival = { parent: ref.trace, secondsAgo: (world.elapsed() - began) / 1000 }
  let next = first && (await attemptInSpan(first, world, arrival))
  while (next !== undefined) {
    const newer = next === FOLLOW ? await followUp(ref, find, world) : next
    next = newer && (await attemptInSpan(newer, world, { parent: ref.trace }))
  }
}

/** The attempt that is due, if any. Apart from its caller, whose frame would keep all of the resource while the attempt waits. */
async function findWaiting(ref: ObjectRef, by: Search, world: World): Promise<WaitingAttempt | undefined> {
  const newer = await findDue(ref, by, world)
  return newer && waitingFor({ newer })
}

/** The attempt of a follower has succeeded: its sources may have changed meanwhile. */
const FOLLOW = Symbol('follow')
type Next = WaitingAttempt | typeof FOLLOW | undefined

/** One attempt in a span of its own, which continues the trace of the event. */
function attemptInSpan(waiting: WaitingAttempt, world: World, beginning: Beginning): Promise<Next> {
  const attributes = resourceAttributes(waiting.ref)
  const span = world.tracer.begin('attempt', { ...beginning, attributes })
  if (beginning.secondsAgo !== undefined) span.past('read resource', beginning.secondsAgo)
  return endWith(span, () => claimAndAttempt(waiting, traceWorld(world, span)))
}

/** One attempt with a turn of its own. Returns a newer spec, if there is one: it may need another turn. */
async function claimAndAttempt(waiting: WaitingAttempt, world: World): Promise<Next> {
  const { heldBefore } = waiting
  const arrived = expectChange(waiting, world)
  const gaveWay = new AbortController()
  try {
    const turn = await turnFor(waiting, world, (because) => gaveWay.abort(because))
    if (turn === undefined) return undefined
    const handOver = (bytes: number): void => {
      turn.park(bytes)
      arrived()
    }
    const over = new AbortController()
    try {
      const found = await readInTurn(waiting, world)
      if (found === undefined) return undefined
      if (!isWaitedFor(found, waiting)) return waitingFor({ newer: found, heldBefore })
      reviewAhead(found, world, over.signal)
      const current = await inSpan(world.span, 'claim', () => claim(found, world, heldBefore))
      if (current === undefined) return undefined
      if ('newer' in current) return waitingFor(current)
      return await attempt(current, world, { ...turn, park: handOver }, gaveWay.signal)
    } finally {
      over.abort(OVER)
      turn.release()
    }
  } finally {
    arrived()
  }
}

/** One attempt, from claim to written status, or until it has to give way. Returns a newer generation, if there is one. */
async function attempt(current: Claim, world: World, turn: Turn, gaveWay: AbortSignal): Promise<Next> {
  const began = world.elapsed()
  const { attemptDeadline } = world.settings
  const kept = world.keepClaim(current.envelope, current.sentAt)
  const signal = anySignal([timeLimit(attemptDeadline * 1000), kept.lost, gaveWay])
  const onTimeout = (): Failure => outOfTime(attemptDeadline)
  const sightings = new Map<ReferenceField, string>()
  const saw: Attempt['saw'] = (field, version) => void sightings.set(field, version)
  let engine: EngineUsed = current.envelope.kind === 'PullRequest' ? 'api' : 'none'
  const engineChosen = (chosen: EngineUsed): void => void (engine = chosen)
  const { latePush = false, latePushTo } = current.envelope.status ?? {}
  const late = latePushes(latePush || kept.replaces, latePushTo)
  const pushWatch = watchPushes(late.latePush === true)
  const { committing, stillThere } = kept
  const { isRetry, again, isRequested } = current
  const terms = { isRequested, again, signal, saw, turn, engineChosen, pushWatch }
  const resource = { ...current, envelope: withLatePushes(current.envelope, late) }
  const running = run(resource, world, { ...terms, claim: kept, committing, stillThere })
  const result = await unlessAborted(running, graceAfter(signal), onTimeout).catch(asFailure)
  // What it costs is over; the result is a small write.
  turn.release()
  // What has changed for it may change again at once, any number of times; other retries come in a pace of their own.
  const isPaced = !isRetry || current.awaited !== undefined
  if (result instanceof Failure && isPaced) world.failedInPace?.()
  const latest = await kept.end()
  // A newer spec has no result yet.
  const carrier = isSameRequest(latest, current.envelope) ? latest : current.envelope
  const { uid } = current.envelope.metadata
  const key = { uid, key: world.settings.stampKey }
  const awaited = result instanceof Failure ? awaitedAfter(result, sightings, key) : []
  const place = pushPlace(current.parsed)
  const isLate = pushWatch.mayBeLate()
  // Where a push of its own may still come, its success counts only while that is what is asked for.
  const stillLate = (isAskedFor: boolean): LatePushes =>
    result instanceof Failure || (isLate && !isAskedFor)
      ? afterFailure(late, place, isLate)
      : afterLanding(late, place)
  const nothingPushed = (): boolean => place !== undefined && !again && !pushWatch.hasSent()
  const settled = await writeResult(carrier, result, world, { awaited, stillLate, nothingPushed })
  const { target } = current.parsed
  await report({ claim: current.envelope, result, began, settled, target, engine }, world)
  const { newer, written } = settled
  if (written !== undefined && awaited.length > 0) world.looks.add(written.envelope, current.parsed, false)
  if (newer === undefined) return isToBeFollowedUp(current, written?.envelope) ? FOLLOW : undefined
  const parsed = parse(newer.whole)
  return waitingFor({
    newer: { envelope: newer.envelope, parsed },
    heldBefore: withLatePushes(current.envelope, stillLate(false)),
  })
}

/** Events about sources that came during the attempt have found its claim: whether they have changed is seen now. */
function followUp(ref: ObjectRef, find: Find, world: World): Promise<WaitingAttempt | undefined> {
  // Where the API server does not answer, the next event or interval comes to the same.
  return findWaiting(ref, { find, awaited: undefined }, world).catch(() => undefined)
}

async function run(current: Claim, world: World, attempt: Attempt): Promise<Outcome> {
  const resource = requireSound(current.envelope, current.parsed)
  if (resource.kind === 'PullRequest') return openPullRequest(resource, world, attempt)
  return commitObject(resource, world, attempt)
}

/** Fires shortly after the deadline: not every call can be aborted, but the attempt no longer waits for it. */
function graceAfter(signal: AbortSignal): AbortSignal {
  const over = new AbortController()
  signal.addEventListener('abort', () => setTimeout(() => over.abort(signal.reason), GRACE_MS), {
    once: true,
  })
  return over.signal
}

function outOfTime(seconds: number): Failure {
  return new Failure(
    'Timeout',
    `The attempt took longer than its limit of ${seconds} s; Commitlet retries automatically.`,
  )
}
