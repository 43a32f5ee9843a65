import { GROUP } from '../domain/resource/api-names.ts'
import type { ApiServer } from './api-server.ts'

/** What the API server's answers say about its time. */
export interface ServerClock {
  /** Calls the API server, and takes the time of each answer that is its own. */
  readonly server: ApiServer
  /** The API server's time; before the first answer this machine's. Up to a second late, because it tells whole seconds. */
  readonly now: () => Date
}

/** The header Date has whole seconds (RFC 9110, section 5.6.7). */
const RESOLUTION_MS = 1_000
/** The groups that the API server serves itself and that are called here: nobody can put an API of their own in their place. */
const OWN_GROUPS: readonly string[] = [
  GROUP,
  'admissionregistration.k8s.io',
  'authentication.k8s.io',
  'authorization.k8s.io',
  'coordination.k8s.io',
  'discovery.k8s.io',
  'events.k8s.io',
]

/**
 * Follows the clock of the API server by the header Date of its answers. Claims and retries are written and compared with
 * it, so that the clocks of pods do not matter. What an aggregated API answers is passed on with a Date of its own, which may
 * be any: https://kubernetes.io/docs/concepts/extend-kubernetes/api-extension/apiserver-aggregation/
 * `elapsed`: milliseconds of a clock that is never set.
 */
export function followServerClock(server: ApiServer, elapsed: () => number): ServerClock {
  let offset: number | undefined

  function take(date: string | undefined): void {
    const time = Date.parse(date ?? '')
    if (Number.isNaN(time)) return
    const seen = time - elapsed()
    // Within a second the largest is the most exact; otherwise the clock was set, or another server has answered.
    if (offset === undefined || seen > offset || seen < offset - RESOLUTION_MS) offset = seen
  }

  return {
    async server(call) {
      const answer = await server(call)
      if (isOwn(call.path)) take(answer.date)
      return answer
    },
    now: () => new Date(offset === undefined ? Date.now() : offset + elapsed()),
  }
}

/** Whether the API server itself answers: only what is under /apis can be passed on. */
function isOwn(path: string): boolean {
  const [, root, group = ''] = path.split('/', 3)
  return root !== 'apis' || OWN_GROUPS.includes(group)
}
