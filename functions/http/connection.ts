import { connect as connectPlain, isIP } from 'node:net'
import type { LookupFunction, Socket } from 'node:net'
import { connect } from 'node:tls'
import type { SecureContext } from 'node:tls'
import type { Destination, Route } from '../domain/network/route.ts'
import type { Proxy } from '../domain/network/proxies.ts'
import { openTunnel } from '../net/tunnel.ts'
import { hostFailure, proxyFailure, proxyRefusal } from './connection-failures.ts'
import { established } from './socket.ts'

/** The way to one API. */
export interface Way {
  readonly destination: Destination
  readonly route: Route
  readonly trust: SecureContext
  /** `host` or `host:port`, for sentences. */
  readonly place: string
  /** Breaks off what is not connected yet. */
  readonly signal: AbortSignal
}

/** Milliseconds until a connection stands, with TLS and through a proxy. */
const PATIENCE = 15_000
/** Milliseconds for each address but the last: Node's own quarter of a second is too short across an ocean. */
const ADDRESS_PATIENCE = 2_000

/**
 * Opens a connection to the API: to one of its checked addresses, or through the proxy, and over TLS where it is
 * https. Nothing of a request is sent.
 * @throws Failure NetworkError, Timeout, TLSUntrusted, and AddressForbidden where the proxy refuses the host
 */
export async function openConnection(way: Way, patience = PATIENCE): Promise<Socket> {
  const signal = AbortSignal.any([way.signal, AbortSignal.timeout(patience)])
  const bounded = { ...way, signal }
  const { proxy } = way.route
  const socket = await (proxy === undefined ? openDirectly(bounded) : openThroughProxy(bounded, proxy))
  return way.destination.scheme === 'http' ? socket : secure(socket, bounded)
}

async function openDirectly({ destination, route, place, signal }: Way): Promise<Socket> {
  const { host, port } = destination
  const socket = connectPlain({
    host,
    port,
    lookup: pinned(route.addresses ?? []),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_PATIENCE,
  })
  return established(socket, 'connect', signal).catch((error: unknown) => {
    throw hostFailure(error, place)
  })
}

async function openThroughProxy({ destination, trust, place, signal }: Way, proxy: Proxy): Promise<Socket> {
  const opened = await openTunnel(destination, { proxy, trust, signal }).catch((error: unknown) => {
    throw proxyFailure(error, place)
  })
  if (typeof opened === 'number') throw proxyRefusal(opened, place)
  return opened
}

/** Whatever the name means by now, the connection goes to an address that was checked. */
function pinned(addresses: readonly string[]): LookupFunction {
  const checked = addresses.map((address) => ({ address, family: isIP(address) }))
  return (_host, _options, answer) => answer(null, checked)
}

async function secure(
  socket: Socket,
  { destination: { host }, route, trust, place, signal }: Way,
): Promise<Socket> {
  const secured = connect({
    socket,
    host,
    // RFC 6066, section 3: an address is no server name.
    servername: isIP(host) === 0 ? host : '',
    secureContext: trust,
    rejectUnauthorized: !route.insecure,
    ALPNProtocols: ['http/1.1'],
  })
  return established(secured, 'secureConnect', signal).catch((error: unknown) => {
    throw hostFailure(error, place)
  })
}
