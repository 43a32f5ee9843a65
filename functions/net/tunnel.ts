import { request } from 'node:http'
import type { RequestOptions } from 'node:http'
import { connect, isIP } from 'node:net'
import type { Socket } from 'node:net'
import type { SecureContext } from 'node:tls'
import { basicAuthorization } from '../domain/credentials/login.ts'
import type { Proxy } from '../domain/network/proxies.ts'
import { writeAuthority } from '../domain/repository/address.ts'
import { boundHead } from './head-bound.ts'
import { connectTLS } from './metered-tls.ts'
import { established } from './socket.ts'
import { lookUpAddresses } from './system-lookup.ts'

/** The proxy of a tunnel, and the time limit to open it. */
export interface Opening {
  readonly proxy: Proxy
  /** The authorities that the certificate of an https proxy is checked with. */
  readonly trust: SecureContext
  readonly signal: AbortSignal
}

/**
 * Opens a connection to the host through a proxy (CONNECT, RFC 9110, 9.3.6); if the proxy refuses, returns the status
 * of its answer. Rejects with Node's error if the proxy cannot be reached, does not answer as a proxy, or has a
 * certificate that is not trusted.
 */
export async function openTunnel(
  { host, port }: { readonly host: string; readonly port: number },
  { proxy, trust, signal }: Opening,
): Promise<Socket | number> {
  const path = writeAuthority({ host, port })
  const headers = { host: path, ...authorization(proxy) }
  const opened = await connectTo(proxy, trust, signal)
  const { status, socket } = await sendConnect(opened, { method: 'CONNECT', path, headers, signal })
  if (status >= 200 && status < 300) return socket
  socket.destroy()
  return status
}

/**
 * Most of what comes from a proxy was sent by the host behind it, which can make the proxy send it in records of one byte:
 * TLS to the proxy is metered as that to a host is.
 */
async function connectTo(proxy: Proxy, trust: SecureContext, signal: AbortSignal): Promise<Socket> {
  const plain = await established(
    connect({ host: proxy.host, port: proxy.port, lookup: lookUpAddresses, autoSelectFamily: true }),
    'connect',
    signal,
  )
  if (proxy.scheme === 'http') return plain
  const servername = isIP(proxy.host) === 0 ? proxy.host : ''
  const secured = connectTLS(plain, { host: proxy.host, servername, secureContext: trust })
  return established(secured, 'secureConnect', signal)
}

interface Answer {
  readonly status: number
  readonly socket: Socket
}

function sendConnect(opened: Socket, options: RequestOptions): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const connecting = request({ ...options, createConnection: () => opened })
  boundHead(connecting)
  connecting.on('error', reject)
  connecting.on('connect', ({ statusCode: status = 0 }, socket) => {
    socket.on('error', () => socket.destroy())
    resolve({ status, socket })
  })
  connecting.end()
  return promise
}

function authorization(proxy: Proxy): Readonly<Record<string, string>> {
  if (proxy.username === '' && proxy.password === '') return {}
  return { 'proxy-authorization': basicAuthorization(proxy) }
}
