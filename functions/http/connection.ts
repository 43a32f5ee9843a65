import { connect as connectPlain, isIP } from 'node:net'
import type { LookupFunction, Socket } from 'node:net'
import type { SecureContext } from 'node:tls'
import type { buildConnector } from 'undici'
import { anySignal } from '../domain/deadline.ts'
import { asFailure, Failure } from '../domain/failure.ts'
import type { Destination, Route } from '../domain/network/route.ts'
import type { Proxy } from '../domain/network/proxies.ts'
import { connectTLS } from '../net/metered-tls.ts'
import { established } from '../net/socket.ts'
import { openTunnel } from '../net/tunnel.ts'
import { hostFailure, proxyFailure, proxyRefusal } from './connection-failures.ts'
import type { TLSTickets } from './tls-tickets.ts'

/** Where and how to connect to one API. */
export interface ConnectionTarget {
  readonly destination: Destination
  readonly route: Route
  readonly trust: SecureContext
  /** `host` or `host:port`, for messages. */
  readonly shownHost: string
  /** Aborts a connection that is not established yet. */
  readonly signal: AbortSignal
  /** Where TLS sessions are kept for the next connection; undefined: each handshake is a full one. */
  readonly tickets?: TLSTickets
  /** Told when the connection is closed. */
  readonly transferred?: ((bytes: Transferred) => void) | undefined
}

/** Bytes that went over a connection. */
export interface Transferred {
  readonly sent: number
  readonly received: number
}

/** Time limit for the connection, including TLS and the proxy. */
const CONNECT_TIMEOUT_MS = 15_000
/** Time limit for each address but the last: Node's default of 250 ms is too short for a distant host. */
const ADDRESS_TIMEOUT_MS = 2_000

/**
 * Opens a connection to the API: to one of its checked addresses, or through the proxy, and with TLS for https. Sends
 * no part of a request.
 * @throws Failure NetworkError, Timeout, TLSUntrusted, and AddressForbidden where the proxy refuses the host
 */
export async function openConnection(
  target: ConnectionTarget,
  timeoutMs = CONNECT_TIMEOUT_MS,
): Promise<Socket> {
  const signal = anySignal([target.signal, AbortSignal.timeout(timeoutMs)])
  const bounded = { ...target, signal }
  const { proxy } = target.route
  const plain = await (proxy === undefined ? openDirectly(bounded) : openThroughProxy(bounded, proxy))
  const socket = target.destination.scheme === 'http' ? plain : await secure(plain, bounded)
  socket.once('close', () => target.transferred?.({ sent: socket.bytesWritten, received: socket.bytesRead }))
  return socket
}

/** How undici gets its connections to this target: each is opened when it asks for one. */
export function connectorTo(target: ConnectionTarget): buildConnector.connector {
  return function connect(_options, answer) {
    openConnection(target).then(
      (socket) => answer(null, socket),
      (error: unknown) => answer(asFailure(error), null),
    )
  }
}

async function openDirectly({ destination, route, shownHost, signal }: ConnectionTarget): Promise<Socket> {
  const { host, port } = destination
  const socket = connectPlain({
    host,
    port,
    lookup: pinned(route.addresses ?? []),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_TIMEOUT_MS,
  })
  return established(socket, 'connect', signal).catch((error: unknown) => {
    throw hostFailure(error, shownHost)
  })
}

async function openThroughProxy(
  { destination, trust, shownHost, signal }: ConnectionTarget,
  proxy: Proxy,
): Promise<Socket> {
  const opened = await openTunnel(destination, { proxy, trust, signal }).catch((error: unknown) => {
    throw proxyFailure(error, shownHost)
  })
  if (typeof opened === 'number') throw proxyRefusal(opened, shownHost)
  return opened
}

/** The connection goes to an address that was checked, even if the name resolves to others by now. */
function pinned(addresses: readonly string[]): LookupFunction {
  const checked = addresses.map((address) => ({ address, family: isIP(address) }))
  return (_host, _options, answer) => answer(null, checked)
}

async function secure(
  socket: Socket,
  { destination: { host, port }, route, trust, shownHost, signal, tickets }: ConnectionTarget,
): Promise<Socket> {
  const key = { host, port, insecure: route.insecure, trust }
  const session = tickets?.get(key)
  const options = {
    host,
    // RFC 6066, section 3: an IP address is not a server name.
    servername: isIP(host) === 0 ? host : '',
    secureContext: trust,
    rejectUnauthorized: !route.insecure,
    ALPNProtocols: ['http/1.1'],
    ...(session === undefined ? {} : { session }),
  }
  const secured = connectTLS(socket, options, route.share)
  secured.on('session', (next: Buffer) => tickets?.set(key, next))
  return established(secured, 'secureConnect', signal).catch((error: unknown) => {
    throw error instanceof Failure ? error : hostFailure(error, shownHost)
  })
}
