import { request as requestPlain } from 'node:http'
import type { RequestOptions } from 'node:http'
import { request } from 'node:https'
import { isIP } from 'node:net'
import type { Socket } from 'node:net'
import type { Proxy } from '../domain/proxies.ts'

/** By which proxy a tunnel goes, and for how long it may take to open it. */
export interface Opening {
  readonly proxy: Proxy
  /** PEM texts of the authorities that an https proxy is checked by. */
  readonly authorities: readonly string[]
  readonly signal: AbortSignal
}

/**
 * Opens a connection to the host through a proxy (CONNECT, RFC 9110, 9.3.6). Rejects with Node's own error where the
 * proxy cannot be reached or its certificate is not trusted, and where it refuses.
 */
export function openTunnel(
  { host, port }: { readonly host: string; readonly port: number },
  { proxy, authorities, signal }: Opening,
): Promise<Socket> {
  const path = `${isIP(host) === 6 ? `[${host}]` : host}:${port}`
  const headers = { host: path, ...authorization(proxy) }
  // Else Node takes the name in the proxy's certificate from the header.
  const servername = isIP(proxy.host) === 0 ? proxy.host : ''
  const to: RequestOptions = { host: proxy.host, port: proxy.port, method: 'CONNECT', agent: false }
  const options = { ...to, path, headers, signal }
  const { promise, resolve, reject } = Promise.withResolvers<Socket>()
  const asked =
    proxy.scheme === 'http'
      ? requestPlain(options)
      : request({ ...options, servername, ca: [...authorities] })
  asked.on('error', reject)
  asked.on('connect', (answer, socket) => {
    if (answer.statusCode === 200) {
      resolve(socket)
      return
    }
    socket.destroy()
    reject(new Error(`The proxy answered with ${answer.statusCode ?? 0}.`))
  })
  asked.end()
  return promise
}

function authorization({ username, password }: Proxy): Readonly<Record<string, string>> {
  if (username === '' && password === '') return {}
  const pair = Buffer.from(`${username}:${password}`).toString('base64')
  return { 'proxy-authorization': `Basic ${pair}` }
}
