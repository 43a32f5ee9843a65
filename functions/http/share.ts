import type { Resolve } from '../domain/network/address-policy.ts'
import type { Release } from '../domain/network/budget.ts'
import type { Share } from '../domain/network/share.ts'
import type { HeldTurn } from '../domain/sharing/keyed-turns.ts'
import type { RouteSettings } from '../domain/network/route.ts'
import type { HTTPSettings } from './http.ts'

/** Where nobody else needs the thread. */
export const atOnce: Share = (work) => Promise.resolve().then(work)

/** The share of this namespace in the thread, until the signal fires. */
export function shareOf(
  { workFor }: Pick<HTTPSettings, 'workFor'>,
  namespace: string,
  signal: AbortSignal,
): Share {
  if (workFor === undefined) return atOnce
  return (work, isUrgent) => workFor(namespace, work, signal, isUrgent)
}

/** What `reserve` of the settings does for this namespace, until the signal fires. */
export function reservationOf(
  { reserve }: Pick<HTTPSettings, 'reserve'>,
  namespace: string,
  signal: AbortSignal,
): () => Promise<Release> {
  return async () => (reserve === undefined ? () => undefined : reserve(namespace, signal))
}

/** Who shakes hands with the host of an API. */
export interface HandshakeTerms {
  readonly namespace: string
  readonly signal: AbortSignal
  /** With the operator's login, which goes to hosts of the operator's. */
  readonly ofOperator: boolean | undefined
  /** That of the token. */
  readonly turn: Pick<HeldTurn, 'isKept' | 'without'>
}

/** How long the handshakes may take while the turn is kept; usual ones take some 3 ms. */
const MOST_URGENT_MS = 50

/**
 * The share in which the handshakes of an attempt are read. Whoever has used theirs up keeps nobody with the same token
 * waiting; with the operator's login, and while the turn is kept because others wait, they are only counted, in the latter case
 * up to 50 ms: a host may close the connection after each answer.
 */
export function shareOfHandshakes(
  { handshakes }: Pick<RouteSettings, 'handshakes'>,
  { namespace, signal, ofOperator = false, turn }: HandshakeTerms,
): Share {
  const workFor = ofOperator ? handshakes?.withOperatorsLogin : handshakes?.workFor
  const share = shareOf({ workFor }, namespace, signal)
  let urgentMs = 0

  function urgently<T>(work: () => T): Promise<T> {
    return share(() => {
      const began = performance.now()
      try {
        return work()
      } finally {
        urgentMs += performance.now() - began
      }
    }, true)
  }

  return (work) => {
    if (ofOperator) return share(work)
    if (turn.isKept()) return urgentMs < MOST_URGENT_MS ? urgently(work) : share(work)
    return handshakes?.isSpent(namespace) === true ? turn.without(() => share(work)) : share(work)
  }
}

/**
 * The settings of one who calls the API of a host: its handshakes and look-ups are in the share of the namespace, with the
 * operator's login in none.
 */
export function inShareOf<T extends Pick<RouteSettings, 'resolve' | 'handshakes'>>(
  settings: T,
  terms: HandshakeTerms,
): T & Required<Pick<HTTPSettings, 'share'>> {
  return { ...settings, share: shareOfHandshakes(settings, terms), resolve: lookUpsOf(settings, terms) }
}

function lookUpsOf(
  { resolve }: Pick<RouteSettings, 'resolve'>,
  { namespace, ofOperator = false }: HandshakeTerms,
): Resolve {
  if (ofOperator) return resolve
  return (host, port, signal) => resolve(host, port, signal, namespace)
}
