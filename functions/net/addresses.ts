import { isIP } from 'node:net'
import type { AddressPolicy, AddressAndPort, Resolve } from '../domain/network/address-policy.ts'
import { isForbidden, unmapped } from '../domain/network/address-policy.ts'
import { openKeyedTurns } from '../domain/sharing/keyed-turns.ts'
import { unlessAborted } from '../domain/deadline.ts'
import { Failure } from '../domain/failure.ts'
import { isUnknownName, systemLookup } from './system-lookup.ts'
import type { Lookup } from './system-lookup.ts'

/** A host (name or IP address) and a port. */
interface Place {
  readonly host: string
  readonly port: number
}

/**
 * Look-ups of a namespace at once. One takes a thread until DNS has answered, or has failed to for 10 s and more, whoever
 * waits for it: of the 128 that there are with UV_THREADPOOL_SIZE=256, twenty namespaces leave some.
 */
const OF_NAMESPACE = 6
/** Far more than a name has; each is compared with those of the API server. */
const MOST_ADDRESSES = 64

/** The environment that the guard runs in. */
export interface Surroundings {
  /** Whether the program runs in a cluster. */
  readonly inCluster: boolean
  /** Where the API server is. */
  readonly apiServer: readonly Place[]
  /** Where else it is, as far as that is known now, such as behind a load balancer; never rejects. */
  readonly readEndpoints?: () => Promise<readonly Place[]>
}

/**
 * Creates the guard. IP addresses are not looked up, but also checked. Concurrent look-ups of a name share the answer.
 */
export function guardAddresses(surroundings: Surroundings, lookup: Lookup = systemLookup): Resolve {
  const lookUpOnce = shared(lookup)
  const inShare = openKeyedTurns(OF_NAMESPACE, () => performance.now())

  async function addressesOf(host: string): Promise<readonly string[]> {
    if (isIP(host) !== 0) return [host]
    const addresses = await lookUpOnce(host).catch((cause: unknown) => {
      throw unknown(host, cause)
    })
    if (addresses.length === 0) throw unknown(host, undefined)
    return addresses
  }

  async function policyAt(port: number, host: string): Promise<AddressPolicy> {
    // The API server's name is looked up every time: behind a load balancer its addresses change.
    const endpoints = (await surroundings.readEndpoints?.()) ?? []
    const servers = [...surroundings.apiServer, ...endpoints].filter((server) => server.port === port)
    const lookUps = servers.map(async (server) => withPort(await addressesOf(server.host), port))
    const apiServer = await Promise.all(lookUps).catch((cause: unknown) => {
      // The message must not reveal the API server's name to a tenant.
      throw unanswered(host, cause)
    })
    return { inCluster: surroundings.inCluster, apiServer: apiServer.flat() }
  }

  /** A turn ends with the look-up, and not with the signal. */
  function addressesFor(host: string, signal: AbortSignal, namespace: string | undefined) {
    if (namespace === undefined || isIP(host) !== 0) return addressesOf(host)
    const taker = { key: namespace, owner: namespace, signal, late: () => timedOut(host) }
    return inShare(taker, () => addressesOf(host))
  }

  return async function resolve(host, port, signal, namespace) {
    const work = Promise.all([addressesFor(host, signal, namespace), policyAt(port, host)])
    const [addresses, policy] = await unlessAborted(work, signal, () => timedOut(host))
    if (addresses.length > MOST_ADDRESSES) throw tooMany(host, addresses.length)
    if (withPort(addresses, port).some((target) => isForbidden(target, policy))) throw forbidden(host)
    return [...new Set(addresses.map(unmapped))]
  }
}

function withPort(addresses: readonly string[], port: number): readonly AddressAndPort[] {
  return addresses.map((address) => ({ address, port }))
}

// A look-up cannot be cancelled and occupies a thread: one for each name is enough.
function shared(lookup: Lookup): Lookup {
  const running = new Map<string, Promise<readonly string[]>>()
  return function lookUpOnce(host) {
    const known = running.get(host)
    if (known !== undefined) return known
    const answer = lookup(host).finally(() => running.delete(host))
    running.set(host, answer)
    return answer
  }
}

function timedOut(host: string): Failure {
  const message = `DNS did not answer for ${host} before the time of the attempt was over; Commitlet retries automatically.`
  return new Failure('Timeout', message)
}

function forbidden(host: string): Failure {
  const message = `${host} is at an address that Commitlet may not connect to; name a repository on another host, or ask your Commitlet operator.`
  // DNS may have another answer for a name later.
  return new Failure('AddressForbidden', message, isIP(host) === 0 ? { retry: 'slow' } : {})
}

function tooMany(host: string, count: number): Failure {
  const message = `${host} has ${count} addresses in DNS, and at most ${MOST_ADDRESSES} are accepted; name another host, or ask its administrator.`
  return new Failure('NetworkError', message)
}

function unknown(host: string, cause: unknown): Failure {
  if (cause !== undefined && !isUnknownName(cause)) return unanswered(host, cause)
  const message = `${host} cannot be reached: its host name is not known to DNS; check the spelling, or ask your Commitlet operator.`
  return new Failure('NetworkError', message, { cause })
}

function unanswered(host: string, cause: unknown): Failure {
  const message = `${host} cannot be reached: DNS does not answer at the moment; Commitlet retries automatically.`
  return new Failure('NetworkError', message, { cause })
}
