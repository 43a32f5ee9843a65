import { request as requestPlain } from 'node:http'
import type { IncomingMessage, RequestOptions } from 'node:http'
import { request } from 'node:https'
import { isIP } from 'node:net'
import type { Socket } from 'node:net'
import type { Proxy } from '../domain/proxies.ts'
import type { Way } from './connection.ts'
import { proxyFailure, proxyRefusal } from './connection-failures.ts'

/**
 * Opens a connection to the API's host through the proxy (CONNECT, RFC 9110, 9.3.6).
 * @throws Failure NetworkError, Timeout, TLSUntrusted where the proxy's own certificate is not trusted, and
 * AddressForbidden where it refuses the host
 */
export async function openTunnel({ destination, trust, place, signal }: Way, proxy: Proxy): Promise<Socket> {
  const { host, port } = destination
  const path = `${isIP(host) === 6 ? `[${host}]` : host}:${port}`
  const headers = { host: path, ...authorization(proxy) }
  const to = { host: proxy.host, port: proxy.port, method: 'CONNECT', agent: false } as const
  // Else Node takes the name in the proxy's certificate from the header.
  const servername = isIP(proxy.host) === 0 ? proxy.host : ''
  const tls = proxy.scheme === 'http' ? {} : { servername, secureContext: trust }
  const { status, socket } = await ask({ ...to, ...tls, path, headers, signal }, proxy).catch(
    (error: unknown) => {
      throw proxyFailure(error, place)
    },
  )
  if (status >= 200 && status < 300) return socket
  socket.destroy()
  throw proxyRefusal(status, place)
}

interface Answer {
  readonly status: number
  readonly socket: Socket
}

function ask(options: RequestOptions, { scheme }: Proxy): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const asked = scheme === 'http' ? requestPlain(options) : request(options)
  asked.on('error', reject)
  asked.on('connect', ({ statusCode: status = 0 }: IncomingMessage, socket) => {
    socket.on('error', () => socket.destroy())
    resolve({ status, socket })
  })
  asked.end()
  return promise
}

function authorization({ username, password }: Proxy): Readonly<Record<string, string>> {
  if (username === '' && password === '') return {}
  const pair = Buffer.from(`${username}:${password}`).toString('base64')
  return { 'proxy-authorization': `Basic ${pair}` }
}
