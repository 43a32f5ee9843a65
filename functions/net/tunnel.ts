import { request as requestPlain } from 'node:http'
import type { RequestOptions } from 'node:http'
import { request } from 'node:https'
import { isIP } from 'node:net'
import type { Socket } from 'node:net'
import type { SecureContext } from 'node:tls'
import { basicAuthorization } from '../domain/credentials/login.ts'
import type { Proxy } from '../domain/network/proxies.ts'
import { writeAuthority } from '../domain/repository/address.ts'
import { boundHead } from './head-bound.ts'

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
  const to = { host: proxy.host, port: proxy.port, method: 'CONNECT', agent: false } as const
  // Without it, Node would check the proxy's certificate for the name in the Host header.
  const servername = isIP(proxy.host) === 0 ? proxy.host : ''
  const tls = proxy.scheme === 'http' ? {} : { servername, secureContext: trust }
  const { status, socket } = await sendConnect({ ...to, ...tls, path, headers, signal }, proxy)
  if (status >= 200 && status < 300) return socket
  socket.destroy()
  return status
}

interface Answer {
  readonly status: number
  readonly socket: Socket
}

function sendConnect(options: RequestOptions, { scheme }: Proxy): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const connecting = scheme === 'http' ? requestPlain(options) : request(options)
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
