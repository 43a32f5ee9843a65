import type { AppliedEvent } from '../../functions/domain/event/applied-event.ts'
import { resourceKey } from '../../functions/domain/resource/resource.ts'

/** Events that are sent once more after a while. */
export interface SecondSending {
  readonly add: (event: AppliedEvent) => void
  readonly stop: () => void
}

/** After how many milliseconds, and how many events at most. */
export interface SecondSendingLimits {
  readonly afterMs: number
  readonly most: number
}

/**
 * Sends events once more whose requests broke, when the claims have ended that these may have left behind: a retry at once
 * finds such a claim, and leaves its resource alone. One event for each resource, the newest. Beyond `most` a sweep finds
 * the resource.
 */
export function makeSecondSending(
  send: (event: AppliedEvent) => void,
  { afterMs, most }: SecondSendingLimits,
): SecondSending {
  const timers = new Map<string, NodeJS.Timeout>()

  function forget(key: string): void {
    clearTimeout(timers.get(key))
    timers.delete(key)
  }

  return {
    add(event) {
      const key = resourceKey(event.data)
      forget(key)
      if (timers.size >= most) return
      const timer = setTimeout(() => {
        forget(key)
        send(event)
      }, afterMs)
      timers.set(key, timer.unref())
    },
    stop() {
      for (const key of [...timers.keys()]) forget(key)
    },
  }
}
