import { setTimeout as pause } from 'node:timers/promises'
import { unlessAborted } from '../../domain/deadline.ts'
import { Failure } from '../../domain/failure.ts'
import type { Release } from '../../domain/network/budget.ts'
import { openFairCache } from '../../domain/sharing/fair-cache.ts'
import type { OnReached } from '../../git/ssh-worker/messages.ts'
import { outOfTime } from './login-throttle.ts'
import { makePenalisingServer, type LoginOf, type PenalisingServer } from './penalising-server.ts'

/** A log-in over SSH that is about to be tried. */
export interface Connecting extends LoginOf {
  readonly host: string
  readonly port: number
  /** The IP addresses of the host, to try one after the other until one can be reached. */
  readonly addresses: readonly string[]
  readonly signal: AbortSignal
}

/** Of a log-in that is to be tried at an address. */
export interface Trying {
  /** Fires if it has to end, because it takes long and others wait. */
  readonly signal: AbortSignal
  /** Told of the server there. */
  readonly reached: OnReached
  /** Called when nothing more is waited for but the server. False: others are being tried by now, and it is not to be tried yet. */
  readonly begins: () => boolean
}

/** Connects to an address and logs in; undefined: it was not to be tried yet. */
type ConnectAt<T> = (address: string, trying: Trying) => Promise<T | undefined>

/** Keeps servers from locking out the address of the pod, and so everybody. */
export interface ServerPenalties {
  /**
   * Connects and logs in, a few at once at each address. Throws AuthenticationFailed, to be retried, without doing it while too
   * much has failed there, whoever it was. A login that has worked there waits for those of its namespace alone that are being
   * tried, unless that has made others fail there that had worked, too. Another one ends as Timeout if it takes long while others wait.
   */
  readonly run: <T>(connecting: Connecting, connect: ConnectAt<T>) => Promise<T>
}

/** For less than that, in seconds, it is waited until the server has forgotten enough. */
const SHORT_WAIT_S = 1
/** Usual log-ins take less. For longer than that nobody waits for one, in milliseconds, and how often it is looked. */
const LONG_MS = 5_000
const LOOK_MS = 1_000
/** Servers of which something is known. */
const REMEMBERED = 1_000

/** A server at which somebody logs in, or that remembers something. */
interface KeptServer {
  readonly server: PenalisingServer
  users: number
}

/** Milliseconds of a clock that is never set, and a wait. */
export interface PenaltyClock {
  readonly elapsed: () => number
  readonly wait?: (milliseconds: number) => Promise<unknown>
}

/** Makes one that remembers nothing yet. `mostFailed`: FAILED_LOGINS. */
export function watchPenalties(
  mostFailed: number,
  { elapsed, wait = (milliseconds) => pause(milliseconds, undefined, { ref: false }) }: PenaltyClock,
): ServerPenalties {
  const remembered = openFairCache<PenalisingServer>(REMEMBERED)
  // Who uses very many others has nothing forgotten here that these remember. So many log-ins cannot fail in 15 s.
  const kept = new Map<string, KeptServer>()

  /** Does work with what is known of a server. */
  async function withServer<T>(
    key: string,
    namespace: string,
    work: (server: PenalisingServer) => Promise<T>,
  ): Promise<T> {
    const used = kept.get(key) ?? {
      server: remembered.get(namespace, key) ?? makePenalisingServer(mostFailed, elapsed),
      users: 0,
    }
    kept.set(key, used)
    remembered.set(namespace, key, used.server)
    used.users += 1
    try {
      return await work(used.server)
    } finally {
      used.users -= 1
      for (const [one, { server, users }] of kept) if (users === 0 && server.hasForgotten()) kept.delete(one)
    }
  }

  /** Waits until nothing that is being tried at the server keeps this from it. */
  async function waitForRoom(server: PenalisingServer, connecting: Connecting): Promise<void> {
    for (;;) {
      const excess = server.excessOf(connecting)
      if (excess.all <= 0) return
      if (excess.remembered > SHORT_WAIT_S) throw heldBack(connecting, server, excess.remembered)
      const room =
        excess.remembered > 0
          ? wait(Math.ceil(excess.remembered * 1_000))
          : server.freed(connecting.namespace, connecting.signal)
      await unlessAborted(room, connecting.signal, outOfTime)
    }
  }

  /** What `connect` returns, or why the server could not be reached. */
  async function connectAt<T>(
    address: string,
    connecting: Connecting,
    connect: ConnectAt<T>,
  ): Promise<{ readonly done: T } | { readonly unreachable: unknown }> {
    const { namespace, port } = connecting
    return withServer(`${address} ${port}`, namespace, async (server) => {
      for (;;) {
        await waitForRoom(server, connecting)
        const tried = await tryAt(server, connecting, (trying) => connect(address, trying))
        if (tried !== undefined) return tried
      }
    })
  }

  /** Undefined: it was not to be tried yet. */
  async function tryAt<T>(
    server: PenalisingServer,
    connecting: Connecting,
    connect: (trying: Trying) => Promise<T | undefined>,
  ): Promise<{ readonly done: T } | { readonly unreachable: unknown } | undefined> {
    const slow = new AbortController()
    const seen = { isReached: false }
    let end: Release | undefined
    const trying: Trying = {
      signal: slow.signal,
      reached(software) {
        seen.isReached = true
        if (software !== undefined) server.says(software)
      },
      begins() {
        if (server.excessOf(connecting).all > 0) return false
        end = server.begin(connecting)
        void endIfSlow(() => end === undefined || slow.signal.aborted)
        return true
      },
    }

    async function endIfSlow(isOver: () => boolean): Promise<void> {
      await wait(LONG_MS)
      while (!isOver()) {
        if (server.isWaitedFor(connecting)) slow.abort(gaveWay(connecting))
        else await wait(LOOK_MS)
      }
    }

    try {
      const done = await connect(trying)
      if (done === undefined) return undefined
      server.hasWorked(connecting)
      return { done }
    } catch (error) {
      if (!seen.isReached && !slow.signal.aborted) return { unreachable: error }
      server.hasFailed(connecting, slow.signal.aborted ? 'slow' : isRefused(error) ? 'refused' : 'unused')
      throw error
    } finally {
      end?.()
      end = undefined
    }
  }

  return {
    async run(connecting, connect) {
      let failure: unknown
      for (const address of connecting.addresses) {
        const ended = await connectAt(address, connecting, connect)
        if ('done' in ended) return ended.done
        failure = ended.unreachable
        connecting.signal.throwIfAborted()
      }
      throw failure
    },
  }
}

function heldBack({ namespace, host }: Connecting, server: PenalisingServer, seconds: number): Failure {
  const fix = server.hasCaused(namespace)
    ? `; some of them were of the namespace ${namespace}: fix the credentials and known_hosts of its resources`
    : ''
  const message = `Logging in at ${host} was not tried yet, because too many log-ins have failed there lately, and the host could lock out everybody${fix}. Commitlet retries automatically.`
  const retryAfterSeconds = Math.ceil(seconds)
  return new Failure('AuthenticationFailed', message, { retry: 'transient', retryAfterSeconds })
}

function isRefused(error: unknown): boolean {
  return error instanceof Failure && error.reason === 'AuthenticationFailed'
}

function gaveWay({ host }: Connecting): Failure {
  const message = `Logging in at ${host} took more than ${LONG_MS / 1_000} s while others waited to log in there, so it was ended; Commitlet retries automatically.`
  return new Failure('Timeout', message)
}
