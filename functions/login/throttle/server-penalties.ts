import { setTimeout as pause } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { unlessAborted } from '../../domain/deadline.ts'
import { Failure } from '../../domain/failure.ts'
import type { OnReached } from '../../git/ssh-worker/messages.ts'
import { makeAllowance, type Allowance } from '../../domain/sharing/allowance.ts'
import { outOfTime } from './login-throttle.ts'

/** A log-in over SSH that is about to be tried. */
export interface Connecting {
  readonly namespace: string
  readonly host: string
  readonly port: number
  /** The IP addresses of the host, to try one after the other until one can be reached. */
  readonly addresses: readonly string[]
  /** Equal for the same login with the same host keys. */
  readonly login: string
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

/** What a server remembers of an address for a while, in seconds: of a log-in that it refuses, and of a connection without one. */
interface Penalty {
  readonly refused: number
  readonly unused: number
}

/**
 * OpenSSH since 9.8: sshd_config(5), PerSourcePenalties, authfail:5s noauth:1s. They add up, and it closes all connections of an
 * address of which it remembers more than min:15s. Older ones have programs beside them that read their log.
 */
const OPENSSH: Penalty = { refused: 5, unused: 1 }
/** Of the servers of large hosts, which count by the account. */
const OTHERS: Penalty = { refused: 1, unused: 0.2 }
const MOST = 15
/** Of that, for a namespace of which no login has worked there yet. */
const MOST_OF_STRANGER = 10
/** For one that has made a log-in fail there, as with a key that somebody is about to put right, or before a fallback. */
const MOST_OF_OFFENDER = 9
/** And for one that has made more fail, which is the less the more it has: only while the server remembers nothing. */
const LEAST = 5
const LESS_FOR_CAUSED = 0.25
/** For less than that, in seconds, it is waited until the server has forgotten enough. */
const SHORT_WAIT_S = 1
/** What a namespace has caused is forgotten in so many times the time in which the server forgets it. */
const FORGOTTEN_IN = 120
const MOST_CAUSED = 60
/** Whoever may end keys can have many fail at once that have worked: after so many in ten minutes, none of the namespace counts as such. */
const MOST_ENDED = 2
const ENDED_FORGOTTEN_IN_S = 600
/** The default of FAILED_LOGINS. An operator who allows more knows that the hosts do. */
const USUALLY_FAILED = 8
/** Of servers, and of the namespaces and logins of each. */
const REMEMBERED = 1_000

/** What a namespace has made fail. */
interface Standing {
  /** What is left of MOST_CAUSED, and of MOST_ENDED. */
  readonly caused: Allowance
  readonly ended: Allowance
}

interface Server {
  /** The most that is known of, until it has said what it is. */
  penalty: Penalty
  /** What is left until it would lock out the pod. */
  readonly left: Allowance
  /** Of penalties that what is being tried may bring. */
  reserved: number
  readonly standings: LRUCache<string, Standing>
  /** Namespaces and logins. */
  readonly hasWorked: LRUCache<string, true>
  /** Something that was tried has ended. */
  freed: PromiseWithResolvers<undefined>
}

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
  const part = Math.min(1, USUALLY_FAILED / mostFailed)
  const remembered = new LRUCache<string, Server>({ max: REMEMBERED })

  function serverAt(address: string, port: number): Server {
    const key = `${address} ${port}`
    const server = remembered.get(key) ?? {
      penalty: partOf(OPENSSH, part),
      left: makeAllowance(MOST, 1, elapsed),
      reserved: 0,
      standings: new LRUCache<string, Standing>({ max: REMEMBERED }),
      hasWorked: new LRUCache<string, true>({ max: REMEMBERED }),
      freed: Promise.withResolvers<undefined>(),
    }
    remembered.set(key, server)
    return server
  }

  /** Reserves what a failure would bring, once nothing that is being tried at the server keeps this from it. */
  async function reserve(server: Server, connecting: Connecting): Promise<number> {
    const { namespace, signal } = connecting
    for (;;) {
      const excess = isTrusted(server, connecting)
        ? server.reserved + server.penalty.refused - MOST
        : excessOf(server, namespace)
      if (excess <= 0) {
        const amount = server.penalty.refused
        server.reserved += amount
        return amount
      }
      const seconds = excess - server.reserved
      if (seconds > SHORT_WAIT_S) throw heldBack(connecting, server, seconds)
      const room = seconds > 0 ? wait(Math.ceil(seconds * 1_000)) : server.freed.promise
      await unlessAborted(room, signal, outOfTime)
    }
  }

  function charge(server: Server, { namespace, login }: Connecting, error: unknown): void {
    const isRefused = error instanceof Failure && error.reason === 'AuthenticationFailed'
    const amount = isRefused ? server.penalty.refused : server.penalty.unused
    server.left.spend(amount)
    const standing = server.standings.get(namespace) ?? {
      caused: makeAllowance(MOST_CAUSED, 1 / FORGOTTEN_IN, elapsed),
      ended: makeAllowance(MOST_ENDED, MOST_ENDED / ENDED_FORGOTTEN_IN_S, elapsed),
    }
    server.standings.set(namespace, standing)
    standing.caused.spend(Math.min(amount, standing.caused.left()))
    if (isRefused && server.hasWorked.delete(login)) standing.ended.spend(1)
  }

  /** What `connect` returns, or why the server could not be reached. */
  async function connectAt<T>(
    address: string,
    connecting: Connecting,
    connect: ConnectAt<T>,
  ): Promise<{ readonly done: T } | { readonly unreachable: unknown }> {
    const { namespace, login, port } = connecting
    const server = serverAt(address, port)
    const reserved = await reserve(server, connecting)
    const seen = { isReached: false }
    try {
      const done = await connect(address, (software) => {
        seen.isReached = true
        if (software !== undefined) server.penalty = partOf(penaltyOf(software), part)
      })
      server.hasWorked.set(login, true).set(namespace, true)
      return { done }
    } catch (error) {
      if (!seen.isReached) return { unreachable: error }
      charge(server, connecting, error)
      throw error
    } finally {
      server.reserved -= reserved
      server.freed.resolve(undefined)
      server.freed = Promise.withResolvers()
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

/** By what the server says that it is: RFC 4253, section 4.2. */
function penaltyOf(software: string): Penalty {
  return software.startsWith('SSH-2.0-OpenSSH') ? OPENSSH : OTHERS
}

function partOf({ refused, unused }: Penalty, part: number): Penalty {
  return { refused: part * refused, unused: part * unused }
}

function isTrusted({ hasWorked, standings }: Server, { namespace, login }: Connecting): boolean {
  return hasWorked.has(login) && (standings.get(namespace)?.ended.left() ?? MOST_ENDED) >= 1
}

function causedBy({ standings }: Server, namespace: string): number {
  return MOST_CAUSED - (standings.get(namespace)?.caused.left() ?? MOST_CAUSED)
}

/** By how much a log-in of this namespace that fails would bring more than it may, with what is being tried. */
function excessOf(server: Server, namespace: string): number {
  const caused = causedBy(server, namespace)
  const known = server.hasWorked.has(namespace) ? MOST : MOST_OF_STRANGER
  const beyond = Math.max(0, caused - OPENSSH.refused)
  const most = caused === 0 ? known : Math.max(LEAST, MOST_OF_OFFENDER - LESS_FOR_CAUSED * beyond)
  return MOST - server.left.left() + server.reserved + server.penalty.refused - most
}

function heldBack({ namespace, host }: Connecting, server: Server, seconds: number): Failure {
  const fix =
    causedBy(server, namespace) === 0
      ? ''
      : `; some of them were of the namespace ${namespace}: fix the credentials and known_hosts of its resources`
  const message = `Logging in at ${host} was not tried yet, because too many log-ins have failed there lately, and the host could lock out everybody${fix}. Commitlet retries automatically.`
  const retryAfterSeconds = Math.ceil(seconds)
  return new Failure('AuthenticationFailed', message, { retry: 'transient', retryAfterSeconds })
}
