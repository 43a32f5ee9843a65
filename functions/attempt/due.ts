import { mayStart } from '../domain/resource/attempt-state.ts'
import { envelopeOf } from '../domain/resource/envelope.ts'
import { isFollowing } from '../domain/resource/following.ts'
import type { Envelope, ObjectRef } from '../domain/resource/resource.ts'
import { awaitedBy } from '../domain/resource/waiting.ts'
import { isStampOver } from '../domain/requester/stamp-time.ts'
import { parse } from '../domain/schema/parse.ts'
import { objectsReferredTo } from '../looks/look.ts'
import { lookAtSources } from '../looks/source-look.ts'
import type { World } from '../world.ts'
import type { Claim, Claimable } from './claim.ts'
import type { Find, Found } from './find.ts'
import { rest } from './rest.ts'
import type { WaitingAttempt } from './waiting-attempt.ts'

/** How an event looks for its resource. */
export interface Search {
  readonly find: Find
  /** What it waits for has changed since the attempt of this `lastAttemptTime`; undefined: nothing is known of that. */
  readonly awaited: string | undefined
}

/**
 * The resource of the event, if an attempt may start. The whole object, which may be large, is not kept. Throws a Failure if
 * it cannot be read.
 */
export async function findDue(
  ref: ObjectRef,
  { find, awaited }: Search,
  world: World,
): Promise<Claimable | undefined> {
  const found = await find(ref)
  if (found === undefined) return undefined
  const { envelope, whole } = found
  if (mayStart(envelope, world.now(), awaited)) return { envelope, awaited, parsed: parse(whole) }
  await rest(envelope, world)
  if (awaitedBy(envelope, world.now()).length > 0) world.looks.add(envelope, parse(whole), true)
  return isFollowing(envelope) ? changedInTurn(found, { ref, find, awaited }, world) : undefined
}

interface Sought extends Search {
  readonly ref: ObjectRef
}

/** A follower that is due, once it has its turn. One event may find a thousand of them: where they wait, they are read again. */
function changedInTurn(
  found: Found,
  { ref, find, awaited }: Sought,
  world: World,
): Promise<Claimable | undefined> {
  let read: Found | undefined = found
  const changed = world.turnToFollow(found.envelope.metadata, async () => {
    const current = read ?? (await find(ref))
    if (current === undefined) return undefined
    const { envelope, whole } = current
    const due = { envelope, parsed: parse(whole) }
    return mayStart(envelope, world.now(), awaited) ? { ...due, awaited } : unlessUnchanged(due, world)
  })
  read = undefined
  return changed
}

/** A follower whose last attempt has succeeded, if its sources have changed since, or its stamp is over. Throws the Failure of a look. */
async function unlessUnchanged(found: Claimable, world: World): Promise<Claimable | undefined> {
  const { envelope, parsed } = found
  if (!isFollowing(envelope)) return undefined
  const changed = { ...found, awaited: envelope.status?.lastAttemptTime }
  // The attempt says how to ask again.
  if (isStampOver(envelope.metadata.annotations, world.now())) return changed
  const { metadata } = envelope
  world.followed.note(metadata, () => objectsReferredTo(parsed, metadata.namespace))
  const seen = await lookAtSources(parsed, metadata, world)
  return seen === undefined || seen === envelope.status?.sync?.digest ? undefined : changed
}

/** The resource of an attempt that has its turn, read again if it was not kept; undefined if it is deleted by now. Throws the Failure of the read. */
export async function readInTurn(
  { ref, awaited, found }: WaitingAttempt,
  { cluster }: World,
): Promise<Claimable | undefined> {
  if (found !== undefined) return found
  const whole = await cluster.readResource(ref)
  return whole === undefined ? undefined : { envelope: envelopeOf(whole), parsed: parse(whole), awaited }
}

/**
 * Whether the sources of a follower are looked at once more after an attempt, because events about them that came during it have
 * found its claim. `written`: with its result. Not where a look at them had it attempted after a success, and it has read the
 * same as the attempt before: then looks tell another version than there is to be read, such as of an object whose metadata
 * are too large for them, and attempts would follow each other without end.
 */
export function isToBeFollowedUp(claim: Claim, written: Envelope | undefined): boolean {
  if (written === undefined || !isFollowing(written)) return false
  const { isRetry, awaited, envelope } = claim
  return isRetry || awaited === undefined || envelope.status?.sync?.digest !== written.status?.sync?.digest
}
