import type { Envelope } from './resource.ts'

/** Told when a push is sent, and when its outcome is known; one without an answer may still be carried out. */
export interface PushWatch {
  readonly sent: () => void
  readonly answered: (landed: boolean) => void
}

/** Knows whether the remote may still carry out a push of an attempt, or of those before it. */
export interface LatePushWatch extends PushWatch {
  readonly mayBeLate: () => boolean
}

/**
 * Watches the pushes of one attempt; `before`: one of an earlier attempt may still be carried out. A push that lands ends
 * that for all before it, because each builds on a tip that the branch has left.
 */
export function watchPushes(before: boolean): LatePushWatch {
  let unanswered = before ? 1 : 0
  return {
    sent() {
      unanswered += 1
    },
    answered(landed) {
      unanswered = landed ? 0 : unanswered - 1
    },
    mayBeLate: () => unanswered > 0,
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
  }
}

/** The resource as if its claim had been written with this. */
export function withLatePush({ status, ...envelope }: Envelope, latePush: boolean): Envelope {
  return status === undefined ? envelope : { ...envelope, status: { ...status, latePush } }
}
