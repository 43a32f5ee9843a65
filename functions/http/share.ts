import type { Resolve } from '../domain/network/address-policy.ts'
import type { Release } from '../domain/network/budget.ts'
import type { Share, WorkFor } from '../domain/network/share.ts'
import type { HeldTurn } from '../domain/sharing/keyed-turns.ts'
import type { RouteSettings } from '../domain/network/route.ts'
import type { Fetch } from '../domain/pull-request/pull-requests.ts'
import type { HTTPSettings } from './http.ts'
import { bytesOf } from './request.ts'

/** Where nobody else needs the thread. */
export const atOnce: Share = (work) => Promise.resolve().then(work)

/** The share of this namespace in the thread, until the signal fires. */
function shareOf(workFor: WorkFor | undefined, namespace: string, signal: AbortSignal): Share {
  if (workFor === undefined) return atOnce
  return (work, isUrgent) => workFor(namespace, work, signal, isUrgent)
}

/** What `reserve` of the settings does for this namespace, until the signal fires. */
export function reservationOf(
  { reserve }: Pick<HTTPSettings, 'reserve'>,
  namespace: string,
  signal: AbortSignal,
): () => Release | Promise<Release> {
  return () => (reserve === undefined ? () => undefined : reserve(namespace, signal))
}

/** Who calls the API of a host, and shakes hands with it. */
export interface CallTerms {
  readonly namespace: string
  readonly signal: AbortSignal
  /** With the operator's login, which goes to hosts of the operator's. */
  readonly ofOperator: boolean | undefined
  /** That of the token. */
  readonly turn: Pick<HeldTurn, 'isKept' | 'without'>
}

/**
 * The share in which an attempt calls, and in which answers are parsed. Whoever has to wait for it leaves the turn to others with the
 * same token meanwhile; where the turn is kept, it is urgent.
 */
export function shareOfCalls(
  { calls }: Pick<HTTPSettings, 'calls'>,
  { namespace, signal, turn }: Omit<CallTerms, 'ofOperator'>,
): Share {
  const share = shareOf(calls?.callFor, namespace, signal)
  return (work) => {
    if (turn.isKept()) return share(work, true)
    return calls?.mustWait(namespace) === true ? turn.without(() => share(work)) : share(work)
  }
}

/**
 * Milliseconds of the thread that a call takes with TLS, whatever it is answered, apart from what is counted as it comes. One alone,
 * with two bytes, has 0.4.
 */
const CALL_MS = 0.5
/** What a byte that is sent takes: contents are encoded, and all is encrypted. */
const SENT_BYTE_MS = 2 / (1024 * 1024)

/**
 * The same calls, each of which begins in this share, and counts: an attempt may make a hundred that follow each other at once, and
 * each answer may be short, or a commit of 10 MiB refused. Of a long answer each 256 KiB wait for the share: otherwise many that come
 * at once would take, before they are counted, what others have to wait for.
 */
export function callInShare(
  fetch: Fetch,
  share: Share,
  counted: Required<Pick<HTTPSettings, 'count'>>,
): Fetch {
  return async function callShared(url, init) {
    await share(() => counted.count(CALL_MS + bytesOf(init.body) * SENT_BYTE_MS))
    let waiting: Promise<unknown> | undefined
    try {
      return await fetch(url, { ...init, readOn: () => (waiting = share(() => undefined)) })
    } finally {
      // It may have left its turn for that wait, and has to have it again before the next call.
      await waiting?.catch(() => undefined)
    }
  }
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
  { namespace, signal, ofOperator = false, turn }: CallTerms,
): Share {
  const workFor = ofOperator ? handshakes?.withOperatorsLogin : handshakes?.workFor
  const share = shareOf(workFor, namespace, signal)
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
    return handshakes?.mustWait(namespace) === true ? turn.without(() => share(work)) : share(work)
  }
}

/**
 * The settings of one who calls the API of a host: its handshakes and look-ups are in the share of the namespace, with the
 * operator's login in none, and what its calls take is counted.
 */
export function inShareOf<T extends Pick<HTTPSettings, 'resolve' | 'handshakes' | 'calls'>>(
  settings: T,
  terms: CallTerms,
): T & Required<Pick<HTTPSettings, 'share' | 'count'>> {
  return {
    ...settings,
    share: shareOfHandshakes(settings, terms),
    resolve: lookUpsOf(settings, terms),
    count: (milliseconds) => settings.calls?.count(terms.namespace, milliseconds),
  }
}

function lookUpsOf(
  { resolve }: Pick<RouteSettings, 'resolve'>,
  { namespace, ofOperator = false }: CallTerms,
): Resolve {
  if (ofOperator) return resolve
  return (host, port, signal) => resolve(host, port, signal, namespace)
}
