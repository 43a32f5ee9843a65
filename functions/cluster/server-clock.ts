import type { ApiServer } from './api-server.ts'
import { isOwnPath } from './calls/own-paths.ts'

/** What the API server's answers say about its time. */
export interface ServerClock {
  /** Calls the API server, and takes the time of each answer that is its own. */
  readonly server: ApiServer
  /** The API server's time; before the first answer this machine's. Up to a second late, because it tells whole seconds. */
  readonly now: () => Date
}

/** The header Date has whole seconds (RFC 9110, section 5.6.7). */
const RESOLUTION_MS = 1_000

/**
 * Follows the clock of the API server by the header Date of its answers. Claims and retries are written and compared with
 * it, so that the clocks of pods do not matter. An answer may have been on its way for long: it moves the clock forward if its time is
 * later than the known one, and back only if it is earlier by more than the whole call took. What an aggregated API answers is passed on
 * with a Date of its own, which may be any. `elapsed`: milliseconds of a clock that is never set.
 */
export function followServerClock(server: ApiServer, elapsed: () => number): ServerClock {
  let offset: number | undefined

  function take(date: string | undefined, sentAt: number): void {
    const time = Date.parse(date ?? '')
    if (Number.isNaN(time)) return
    const least = time - elapsed()
    const most = time + RESOLUTION_MS - sentAt
    // Of what is possible the largest is the most exact; otherwise the clock was set, or another server has answered.
    if (offset === undefined || least > offset || offset > most) offset = least
  }

  return {
    async server(call) {
      const sentAt = elapsed()
      const answer = await server(call)
      if (isOwnPath(call.path)) take(answer.date, sentAt)
      return answer
    },
    now: () => new Date(offset === undefined ? Date.now() : offset + elapsed()),
  }
}
