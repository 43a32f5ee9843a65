import type { Share } from '../domain/network/share.ts'
import type { HeldTurn } from '../domain/sharing/keyed-turns.ts'
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

/** Who shakes hands with the host of an API. */
export interface HandshakeTerms {
  readonly namespace: string
  readonly signal: AbortSignal
  /** With the operator's login, which goes to hosts of the operator's. */
  readonly ofOperator: boolean | undefined
  /** That of the token. */
  readonly turn: Pick<HeldTurn, 'isKept' | 'without'>
}

/**
 * The share in which the handshakes of an attempt are read. Whoever has used theirs up keeps nobody with the same token
 * waiting; with the operator's login, and while others wait for the turn, a handshake is only counted.
 */
export function shareOfHandshakes(
  settings: Pick<HTTPSettings, 'workFor' | 'isSpent'>,
  { namespace, signal, ofOperator = false, turn }: HandshakeTerms,
): Share {
  const share = shareOf(settings, namespace, signal)
  return (work) => {
    if (ofOperator || turn.isKept()) return share(work, true)
    return settings.isSpent?.(namespace) === true ? turn.without(() => share(work)) : share(work)
  }
}
