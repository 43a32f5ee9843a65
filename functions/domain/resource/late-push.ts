import type { Envelope } from './resource.ts'
import type { Outcome } from './status.ts'

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

/**
 * Whether a push that may be late still may be, now that this commit was found for the request: the status has named it since
 * before that push, so the branch has not moved. It is that of the first request of a generation, where a
 * `commitlet.dev/requested-at` that came later was removed before its push was answered.
 */
export function staysLate({ status }: Envelope, { commit }: Pick<Outcome, 'commit'>): boolean {
  return commit !== undefined && commit.sha === status?.commit?.sha
}
