import { endOf, serving } from './state.ts'
import type { CertificateState } from './state.ts'
import type { Issued } from './issue.ts'

/** When a certificate is renewed, in milliseconds. */
export interface RotationTimes {
  /** A certificate that expires within this time is renewed. */
  readonly renewMs: number
  /** How long both configurations have trusted the next authority before it is used: every API server knows it then. */
  readonly trustMs: number
}

/** What a replica does next, with the time of the API server. */
export interface Moment {
  readonly now: Date
  /** Both webhook configurations trust the authority of `next`. */
  readonly isNextTrusted: boolean
  readonly times: RotationTimes
  readonly issue: () => Promise<Issued>
}

/**
 * The state to write; undefined: there is nothing to do. A new certificate is made early, then trusted, and served only after
 * every API server trusts it. Where nothing can be served, a new one is served at once.
 */
export async function nextState(
  state: CertificateState,
  moment: Moment,
): Promise<CertificateState | undefined> {
  const { current, next } = state
  const { now, times, issue } = moment
  const hasEnded = ({ cert }: Issued): boolean => endOf(cert) <= now.getTime()
  if (current === undefined || hasEnded(current))
    return serving(next === undefined || hasEnded(next) ? await issue() : next, state, now)
  if (next !== undefined) return promoted(state, moment)
  if (endOf(current.cert) - now.getTime() > times.renewMs) return undefined
  return { ...state, next: { ...(await issue()), trustedSince: undefined } }
}

function promoted(
  state: CertificateState,
  { now, isNextTrusted, times }: Moment,
): CertificateState | undefined {
  const { next } = state
  if (next === undefined || !isNextTrusted) return undefined
  const since = Date.parse(next.trustedSince ?? '')
  if (Number.isNaN(since)) return { ...state, next: { ...next, trustedSince: now.toISOString() } }
  return now.getTime() - since >= times.trustMs ? serving(next, state, now) : undefined
}
