import { setTimeout as pause } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { unlessAborted } from '../../domain/deadline.ts'
import { Failure } from '../../domain/failure.ts'
import type { Release } from '../../domain/network/budget.ts'
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

/** Connects to an address and logs in; `reached` is told of the server there. */
type ConnectAt<T> = (address: string, reached: OnReached) => Promise<T>

/** Keeps servers from locking out the address of the pod, and so everybody. */
export interface ServerPenalties {
  /**
   * Connects and logs in, a few at once at each address. Throws AuthenticationFailed, to be retried, without doing it while too
   * much has failed there, whoever it was. A login that has worked there waits for those that are being tried alone, unless
   * its namespace has made others fail there that had worked, too.
   */
  readonly run: <T>(connecting: Connecting, connect: ConnectAt<T>) => Promise<T>
}

/** For less than that, in seconds, it is waited until the server has forgotten enough. */
const SHORT_WAIT_S = 1
/** Servers of which something is known. */
const REMEMBERED = 1_000

/** Milliseconds of a clock that is never set, and a wait. */
export interface PenaltyClock {
  readonly elapsed: () => number
  readonly wait?: (milliseconds: number) => Promise<unknown>
}

/** Makes one that remembers nothing yet. `mostFailed`: FAILED_LOGINS. */
export function watchPenalties(
  mostFailed: number,
  { elapsed, wait = (milliseconds) => pause(milliseconds) }: PenaltyClock,
): ServerPenalties {
  const remembered = new LRUCache<string, PenalisingServer>({ max: REMEMBERED })

  function serverAt(address: string, port: number): PenalisingServer {
    const key = `${address} ${port}`
    const server = remembered.get(key) ?? makePenalisingServer(mostFailed, elapsed)
    remembered.set(key, server)
    return server
  }

  /** Begins once nothing that is being tried at the server keeps this from it. */
  async function begin(server: PenalisingServer, connecting: Connecting): Promise<Release> {
    for (;;) {
      const excess = server.excessOf(connecting)
      if (excess.all <= 0) return server.begin()
      if (excess.remembered > SHORT_WAIT_S) throw heldBack(connecting, server, excess.remembered)
      const room = excess.remembered > 0 ? wait(Math.ceil(excess.remembered * 1_000)) : server.freed()
      await unlessAborted(room, connecting.signal, outOfTime)
    }
  }

  /** What `connect` returns, or why the server could not be reached. */
  async function connectAt<T>(
    address: string,
    connecting: Connecting,
    connect: ConnectAt<T>,
  ): Promise<{ readonly done: T } | { readonly unreachable: unknown }> {
    const server = serverAt(address, connecting.port)
    const end = await begin(server, connecting)
    const seen = { isReached: false }
    try {
      const done = await connect(address, (software) => {
        seen.isReached = true
        if (software !== undefined) server.says(software)
      })
      server.hasWorked(connecting)
      return { done }
    } catch (error) {
      if (!seen.isReached) return { unreachable: error }
      server.hasFailed(connecting, error instanceof Failure && error.reason === 'AuthenticationFailed')
      throw error
    } finally {
      end()
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
