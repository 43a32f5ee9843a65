import type { Failure } from '../domain/failure.ts'
import { envelopeOf } from '../domain/resource/envelope.ts'
import { resourceKey, type ObjectRef } from '../domain/resource/resource.ts'
import type { LeftAlone, World } from '../world.ts'

const FIRST_PAUSE_MS = 60_000
const LONGEST_PAUSE_MS = 3_600_000
/** Each is almost as large as etcd stores, and takes some 300 bytes here. */
const MOST = 10_000

interface Left {
  readonly ref: ObjectRef
  readonly pause: number
  readonly until: number
}

/** Begins with none. `elapsed`: milliseconds of a clock that is never set. */
export function openLeftAlone(elapsed: () => number): LeftAlone {
  const all = new Map<string, Left>()

  return {
    has(ref) {
      const left = all.get(resourceKey(ref))
      return left !== undefined && elapsed() < left.until && isSame(ref, left.ref)
    },
    add(ref) {
      const key = resourceKey(ref)
      const before = all.get(key)
      const isInRow =
        before !== undefined && isSame(ref, before.ref) && elapsed() <= before.until + before.pause
      const pause = isInRow ? Math.min(LONGEST_PAUSE_MS, before.pause * 2) : FIRST_PAUSE_MS
      all.delete(key)
      const [oldest] = all.keys()
      if (oldest !== undefined && all.size >= MOST) all.delete(oldest)
      all.set(key, { ref, pause, until: elapsed() + pause })
    },
  }
}

/** Leaves the resource alone, whose status cannot be stored for this reason: an Event says so, where its user looks. */
export async function leaveAlone(
  ref: ObjectRef,
  { reason, message }: Failure,
  { leftAlone, log, cluster }: Pick<World, 'leftAlone' | 'log' | 'cluster'>,
): Promise<void> {
  leftAlone.add(ref)
  log.warn({ resource: ref, reason, cause: message }, 'a status cannot be stored')
  // The log line has to do where it cannot be read.
  const whole = await cluster.readResource(ref).catch(() => undefined)
  if (whole !== undefined) await cluster.recordEvent(envelopeOf(whole), { type: 'Warning', reason, message })
}

/** As far as both senders knew it: those who know the generation know the request as well. */
function isSame(one: ObjectRef, other: ObjectRef): boolean {
  if (one.uid !== undefined && other.uid !== undefined && one.uid !== other.uid) return false
  if (one.generation === undefined || other.generation === undefined) return true
  return one.generation === other.generation && one.request === other.request
}
