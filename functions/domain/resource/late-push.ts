import type { Envelope } from './resource.ts'
import type { Status } from './stored-status.ts'

/** Told when the first byte of a push is to be sent, and when its outcome is known; one without an answer may still be carried out. */
export interface PushWatch {
  readonly sent: () => void
  readonly answered: (landed: boolean) => void
  /** The remote has not looked at it: as if it had not been sent. */
  readonly unread: () => void
}

/** Knows whether the remote may still carry out a push of an attempt, or of those before it. */
export interface LatePushWatch extends PushWatch {
  readonly mayBeLate: () => boolean
  /** Whether a push of this attempt was sent and may have been looked at, whatever became of it. */
  readonly hasSent: () => boolean
}

/**
 * Watches the pushes of one attempt; `before`: one of an earlier attempt may still be carried out. A push that lands ends
 * that for all before it, because each builds on a tip that the branch has left.
 */
export function watchPushes(before: boolean): LatePushWatch {
  let unanswered = before ? 1 : 0
  let sent = 0
  return {
    sent() {
      sent += 1
      unanswered += 1
    },
    answered(landed) {
      unanswered = landed ? 0 : unanswered - 1
    },
    unread() {
      sent -= 1
      unanswered -= 1
    },
    mayBeLate: () => unanswered > 0,
    hasSent: () => sent > 0,
  }
}

/** Tells both of each push. */
export function tellBoth(one: PushWatch, other: PushWatch | undefined): PushWatch {
  return {
    sent() {
      one.sent()
      other?.sent()
    },
    answered(landed) {
      one.answered(landed)
      other?.answered(landed)
    },
    unread() {
      one.unread()
      other?.unread()
    },
  }
}

/** What a status tells of pushes that may still be carried out. */
export type LatePushes = Pick<Status, 'latePush' | 'latePushTo'>

/** Of more places than these, the latest are remembered. */
const MOST_PLACES = 8

/** The status of pushes that may be late; what there is none of is left out. */
export function latePushes(latePush: boolean | undefined, places: readonly string[] = []): LatePushes {
  return {
    ...(latePush === true ? { latePush } : {}),
    ...(places.length === 0 ? {} : { latePushTo: places.slice(-MOST_PLACES) }),
  }
}

/** A place to which something is pushed; undefined for a spec that pushes nothing. */
type Place = string | undefined

/** After an attempt that has not landed: whether the remote may still carry out a push of it, or of those before it. */
export function afterFailure({ latePushTo = [] }: LatePushes, place: Place, latePush: boolean): LatePushes {
  const isNew = latePush && place !== undefined
  return latePushes(latePush, isNew ? [...without(place, latePushTo), place] : latePushTo)
}

/** Once the branch has left the tip on which earlier pushes to this place build. Those to other places may still come. */
export function afterLanding({ latePushTo = [] }: LatePushes, place: Place): LatePushes {
  return latePushes(false, without(place, latePushTo))
}

function without(place: Place, places: readonly string[]): readonly string[] {
  return places.filter((one) => one !== place)
}

/** Whether a push to this place has to move the branch, so that an earlier one fails. */
export function mustMove({ latePush, latePushTo = [] }: LatePushes, place: Place): boolean {
  return latePush === true || latePushTo.some((one) => one === place)
}

/** The resource as if its claim had been written with this. */
export function withLatePushes({ status, ...envelope }: Envelope, late: LatePushes): Envelope {
  if (status === undefined) return envelope
  return { ...envelope, status: { ...status, latePush: false, latePushTo: [], ...late } }
}

/**
 * The status of a failed attempt, whose claim the resource has, if no attempt at the request has sent a push. No other attempt has its
 * time, so it says nothing of later ones, not even where a release that does not know the field keeps it.
 */
export function nothingPushedUntil({ status }: Envelope): Pick<Status, 'nothingPushedTime'> {
  const { lastAttemptTime } = status ?? {}
  return lastAttemptTime === undefined ? {} : { nothingPushedTime: lastAttemptTime }
}
