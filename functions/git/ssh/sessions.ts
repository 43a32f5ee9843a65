import type { KeyLogin } from '../../domain/credentials/login.ts'
import { stopIfAborted } from '../process/launcher.ts'
import type { OnReached, SSHTarget } from '../ssh-worker/messages.ts'
import { keepSessions } from './kept-sessions.ts'
import { openKeyCheck, type CheckKey } from './key-check.ts'
import { openSession } from './session.ts'
import type { SessionListeners, SSHSession } from './session.ts'
import { SMALL_PACKETS, shareReading, type LetRead } from './reading-shares.ts'
import type { Place } from './threads/started-threads.ts'
import { makeThreadPlaces } from './threads/thread-places.ts'
import type { Lease, ThreadPlaces } from './threads/thread-places.ts'

/** The host to connect to, and the login of a namespace. */
export interface SessionTarget extends SSHTarget {
  readonly login: KeyLogin
  /** Called when a log-in begins: until then, the session waits for others. */
  readonly logsIn?: (() => void) | undefined
}

/** A log-in at a server to which no session is kept. */
export interface NewLogIn extends Pick<SessionTarget, 'address' | 'addresses' | 'login'> {
  readonly signal: AbortSignal
}

/** Of a log-in that is tried. */
export interface TriedLogIn {
  readonly signal: AbortSignal
  /** Told of the server. */
  readonly reached: OnReached
  /** Asked when there is a thread for it. False: it is not to be tried yet, and waits without a thread. */
  readonly begins: () => boolean
}

/** Logs in at this address; undefined: it was not to be tried yet. */
export type OpenAt<T> = (address: string, tried: TriedLogIn) => Promise<T | undefined>

/** Has a log-in tried, or throws Failure without it. */
export type GuardLogIn = <T>(logIn: NewLogIn, open: OpenAt<T>) => Promise<T>

/** Sessions at SSH servers. */
export interface SSHSessions {
  /**
   * Opens a session, or takes one that was kept: of the same namespace, repository and login, at one of the addresses.
   * @throws Failure; Timeout when the signal fires, or too many servers are in use until then
   */
  open(target: SessionTarget, signal: AbortSignal): Promise<SSHSession>
  /** Ends all sessions. */
  close(): Promise<void>
}

/** How long a session is kept that nobody uses. */
const KEEP_MS = 5_000

/** A session, and the use of its thread. */
interface Opened {
  readonly session: SSHSession
  readonly lease: Lease
}

/** Parts of the sessions that have a default. */
interface SessionParts {
  readonly places?: ThreadPlaces
  readonly keepMs?: number
  /** Default: each log-in is tried. */
  readonly guardLogIn?: GuardLogIn
  readonly checkKey?: CheckKey
  /** Of the data of programs. */
  readonly letRead?: LetRead
  /** Of what messages cost besides. */
  readonly letTake?: LetRead
}

/**
 * Each namespace has its own thread for each server while it uses it, which is started where there are fewer than may be. A session
 * that is closed in good order is kept for `keepMs`.
 */
export function openSSHSessions({
  places = makeThreadPlaces(),
  keepMs = KEEP_MS,
  guardLogIn = atOnce,
  checkKey = openKeyCheck(),
  letRead = shareReading(),
  letTake = shareReading(SMALL_PACKETS),
}: SessionParts = {}): SSHSessions {
  const kept = keepSessions(keepMs)

  /** The thread of this place, in which sessions of no other namespace are kept. */
  async function leaseOf(place: Place, signal: AbortSignal): Promise<Lease> {
    const lease = await places.lease(place, signal)
    kept.closeOthers(lease, place.namespace)
    return lease
  }

  /** A session that was kept; undefined where there is none. */
  async function takeKept(target: SessionTarget, signal: AbortSignal): Promise<Opened | undefined> {
    for (const place of target.addresses.map((one) => placeOf(target, one))) {
      if (!places.has(place)) continue
      const lease = await leaseOf(place, signal)
      const session = await kept.take(lease, target)
      if (session !== undefined) return { session, lease }
      lease.release()
    }
    return undefined
  }

  async function openNew(
    place: Place,
    { logsIn, ...target }: SSHTarget & Pick<SessionTarget, 'logsIn'>,
    { signal, reached, begins }: TriedLogIn,
  ): Promise<Opened | undefined> {
    const lease = await leaseOf(place, signal)
    const listeners: SessionListeners = {
      reached(software) {
        lease.reached()
        reached(software)
      },
      onRead: (bytes, goOn) => letRead(place.namespace, bytes, goOn),
      took: (cost, goOn) => letTake(place.namespace, cost, goOn),
    }
    try {
      if (begins()) {
        logsIn?.()
        const session = await lease.logIn(() => openSession(lease.thread, target, signal, listeners))
        return { session, lease }
      }
      lease.release()
      return undefined
    } catch (error) {
      lease.release()
      throw error
    }
  }

  return {
    async open(target, signal) {
      const { address, addresses, login, readyMs, logsIn } = target
      // Before it takes a thread from others.
      await checkKey(login, address, signal)
      const { privateKey, hostKeys } = login
      // Only what the thread needs of the login.
      const plain = {
        address,
        login: { privateKey, hostKeys },
        ...(readyMs === undefined ? {} : { readyMs }),
      }
      const taken = await takeKept(target, signal)
      // What waits for its log-in to be tried has no thread.
      const opened =
        taken ??
        (await guardLogIn({ address, addresses, login, signal }, (one, tried) =>
          openNew(placeOf(target, one), { ...plain, addresses: [one], logsIn }, tried),
        ))
      const { session, lease } = opened
      const own = leased(session, signal, (isKept) => {
        if (!isKept) session.close()
        kept.giveBack(session, lease, target)
      })
      stopIfAborted(signal)
      return own
    },
    close: () => places.close(),
  }
}

/** Tries the addresses one after the other until one can be reached. */
async function atOnce<T>({ addresses, signal }: NewLogIn, open: OpenAt<T>): Promise<T> {
  let failure: unknown
  for (const address of addresses) {
    const seen = { isReached: false }
    const reached = (): void => void (seen.isReached = true)
    try {
      const opened = await open(address, { signal, reached, begins: () => true })
      if (opened !== undefined) return opened
    } catch (error) {
      if (seen.isReached) throw error
      failure = error
    }
  }
  throw failure
}

function placeOf({ address: { port }, login }: Pick<SessionTarget, 'address' | 'login'>, ip: string): Place {
  return { namespace: login.namespace, server: `${ip} ${port}` }
}

/** The session for one user of it, who gives it back by `close`, or loses it when the signal fires. */
function leased(session: SSHSession, signal: AbortSignal, giveBack: (isKept: boolean) => void): SSHSession {
  let closed = false
  function end(isKept: boolean): void {
    if (closed) return
    closed = true
    signal.removeEventListener('abort', abort)
    giveBack(isKept)
  }
  function abort(): void {
    end(false)
  }
  signal.addEventListener('abort', abort, { once: true })
  // The one before may have taken its time to end.
  if (signal.aborted) abort()
  return {
    ...session,
    isOpen: () => !closed && session.isOpen(),
    close: () => end(!signal.aborted),
  }
}
