import { accessReviews } from '../../functions/cluster/access-review.ts'
import type { ReviewAccess } from '../../functions/cluster/access-review.ts'
import type { ApiAnswer, ApiCall, ApiServer } from '../../functions/cluster/api-server.ts'
import { accessTo } from '../../functions/domain/gate/access.ts'

/** The use of one Secret. */
export const SECRET = accessTo(
  'use',
  { plural: 'secrets', namespaced: true },
  { apiVersion: 'v1', namespace: 'shop', name: 'git' },
)
/** A user with every member that a UserInfo may have. */
export const DEVELOPER = {
  username: 'developer',
  uid: 'u-1',
  groups: ['developers', 'system:authenticated'],
  extra: { 'scopes.authorization.openshift.io': ['user:full'] },
}
/** The status of a review that allows. */
export const ALLOWED = { allowed: true }
/** The status of a review that denies. */
export const DENIED = { allowed: false, reason: 'RBAC: …' }

/** The stand-in for the API server. */
export interface Recorder {
  readonly calls: ApiCall[]
  readonly server: ApiServer
  /** Status of the answers from now on. */
  status: object
  http: number
  /** Holds answers back until it is resolved. */
  gate: Promise<unknown>
}

/** An API server that records the requests, and answers with what is set at the moment of the answer. */
export function recorder(status: object = ALLOWED): Recorder {
  const recorded: Recorder = {
    calls: [],
    status,
    http: 201,
    gate: Promise.resolve(),
    async server(call): Promise<ApiAnswer> {
      recorded.calls.push(call)
      await recorded.gate
      return { status: recorded.http, text: JSON.stringify({ status: recorded.status }) }
    },
  }
  return recorded
}

/** Reviews, and the clock that they go by, in milliseconds. */
export interface Clocked {
  readonly ask: ReviewAccess
  now: number
}

/** Reviews with a clock that does not move until it is set. */
export function reviews(recorded: Recorder): Clocked {
  const clock: Clocked = { now: 1_000_000, ask: accessReviews(recorded.server, () => clock.now) }
  return clock
}
