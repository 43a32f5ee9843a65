import { LRUCache } from 'lru-cache'
import { unlessAborted } from '../../domain/deadline.ts'
import { Failure } from '../../domain/failure.ts'
import type { ReachedServer } from '../../git/ssh-worker/messages.ts'
import { makeAllowance, type Allowance } from '../../domain/sharing/allowance.ts'

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
type ConnectAt<T> = (address: string, reached: (server: ReachedServer) => void) => Promise<T>

/** Keeps servers from locking out the address of the pod, and so everybody. */
export interface ServerPenalties {
  /**
   * Connects and logs in, a few at once at each address. Throws RateLimited without doing it while too much has failed there,
   * whoever it was. A login that has worked there waits for those that are being tried alone, unless its namespace has made
   * another one fail there lately.
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
/** For one that has made log-ins fail, which is the less the more it has: only while the server remembers nothing. */
const LEAST = 5
const LESS_FOR_CAUSED = 0.25
/** What a namespace has caused is forgotten in so many times the time in which the server forgets it. */
const FORGOTTEN_IN = 120
const MOST_CAUSED = 60
/** From here on, a namespace's logins that have worked are held back as all others: whoever may end keys can have many fail at once. */
const UNTRUSTED_FROM = 2.5
/** Of servers, and of the namespaces and logins of each. */
const REMEMBERED = 1_000

interface Server {
  /** The most that is known of, until it has said what it is. */
  penalty: Penalty
  /** What is left until it would lock out the pod. */
  readonly left: Allowance
  /** Of penalties that what is being tried may bring. */
  reserved: number
  readonly caused: LRUCache<string, Allowance>
  /** Namespaces and logins. */
  readonly hasWorked: LRUCache<string, true>
  /** Something that was tried has ended. */
  freed: PromiseWithResolvers<undefined>
}

/** Makes one that remembers nothing yet. `elapsed` is in milliseconds of a clock that is never set. */
export function watchPenalties(elapsed: () => number): ServerPenalties {
  const remembered = new LRUCache<string, Server>({ max: REMEMBERED })

  function serverAt(address: string, port: number): Server {
    const key = `${address} ${port}`
    const server = remembered.get(key) ?? {
      penalty: OPENSSH,
      left: makeAllowance(MOST, 1, elapsed),
      reserved: 0,
      caused: new LRUCache<string, Allowance>({ max: REMEMBERED }),
      hasWorked: new LRUCache<string, true>({ max: REMEMBERED }),
      freed: Promise.withResolvers<undefined>(),
    }
    remembered.set(key, server)
    return server
  }

  /** Reserves what a failure would bring, once nothing that is being tried at the server keeps this from it. */
  async function reserve(server: Server, connecting: Connecting): Promise<number> {
    const { namespace, login, signal } = connecting
    for (;;) {
      const isTrusted = server.hasWorked.has(login) && causedBy(server, namespace) < UNTRUSTED_FROM
      const excess = isTrusted ? server.reserved + server.penalty.refused - MOST : excessOf(server, namespace)
      if (excess > server.reserved) throw heldBack(connecting, server)
      if (excess <= 0) {
        const amount = server.penalty.refused
        server.reserved += amount
        return amount
      }
      await unlessAborted(server.freed.promise, signal, late)
    }
  }

  function charge(server: Server, namespace: string, amount: number): void {
    server.left.spend(amount)
    const caused = server.caused.get(namespace) ?? makeAllowance(MOST_CAUSED, 1 / FORGOTTEN_IN, elapsed)
    server.caused.set(namespace, caused)
    caused.spend(Math.min(amount, caused.left()))
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
      const done = await connect(address, ({ software }) => {
        seen.isReached = true
        if (software !== undefined) server.penalty = penaltyOf(software)
      })
      server.hasWorked.set(login, true).set(namespace, true)
      return { done }
    } catch (error) {
      if (!seen.isReached) return { unreachable: error }
      const isRefused = error instanceof Failure && error.reason === 'AuthenticationFailed'
      charge(server, namespace, isRefused ? server.penalty.refused : server.penalty.unused)
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

function causedBy({ caused }: Server, namespace: string): number {
  return MOST_CAUSED - (caused.get(namespace)?.left() ?? MOST_CAUSED)
}

/** By how much a log-in of this namespace that fails would bring more than it may, with what is being tried. */
function excessOf(server: Server, namespace: string): number {
  const caused = causedBy(server, namespace)
  const known = server.hasWorked.has(namespace) ? MOST : MOST_OF_STRANGER
  const most = caused === 0 ? known : Math.max(LEAST, MOST_OF_STRANGER - LESS_FOR_CAUSED * caused)
  return MOST - server.left.left() + server.reserved + server.penalty.refused - most
}

/** Without a time: the host has asked for nothing. */
function heldBack({ namespace, host }: Connecting, server: Server): Failure {
  const fix =
    causedBy(server, namespace) === 0
      ? ''
      : `; some of them were of the namespace ${namespace}: fix the credentials and known_hosts of its resources`
  const message = `Logging in at ${host} was not tried yet, because too many log-ins have failed there lately, and the host could lock out everybody${fix}. Commitlet retries automatically.`
  return new Failure('RateLimited', message)
}

function late(cause: unknown): Failure {
  const message = 'The attempt ran out of time before it could log in; Commitlet retries automatically.'
  return new Failure('Timeout', message, { cause })
}
