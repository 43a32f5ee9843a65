import http from 'node:http'
import https from 'node:https'
import { isIP, type Socket } from 'node:net'
import type { SecureContext } from 'node:tls'
import { anySignal } from '../domain/deadline.ts'
import { readBody } from '../domain/network/read-body.ts'
import { proxyFor, type Proxies, type Proxy } from '../domain/network/proxies.ts'
import { retryAfterOf } from '../domain/network/retry-after.ts'
import { unbracketed } from '../domain/repository/address.ts'
import { boundHead } from '../net/head-bound.ts'
import { connectTLS } from '../net/metered-tls.ts'
import { established } from '../net/socket.ts'
import { whenSwitched } from '../net/switched-protocols.ts'
import type { Trust } from '../net/trust.ts'
import { openTunnel } from '../net/tunnel.ts'
import { exportRequest } from './otlp.ts'
import type { SendSpans, Sent } from './span-queue.ts'
import type { TraceSettings } from './trace-settings.ts'

/** How the collector is reached: as the operator's other hosts, but at any address, which the operator has chosen. */
export interface CollectorRoute {
  readonly trust: Trust
  readonly proxies: Proxies
}

/** An answer is empty, or says in a few words what was wrong. */
const LARGEST_BODY = 64 * 1024
/** Those that may be sent again: https://opentelemetry.io/docs/specs/otlp/#failures-1 */
const RETRY_STATUSES = new Set([429, 502, 503, 504])

/** Sends spans to the collector of the settings; no connection is made before the first of them. */
export function openCollector(settings: TraceSettings, route: CollectorRoute): SendSpans {
  const { endpoint, timeoutMs, serviceName } = settings
  const connectionFor = makeConnections(endpoint, route)

  return async function send(spans, signal) {
    const body = exportRequest(spans, serviceName)
    const bounded = anySignal([signal, AbortSignal.timeout(timeoutMs)])
    try {
      const options = await connectionFor(bounded)
      return await post({ ...options, signal: bounded }, settings, body)
    } catch (error) {
      return { outcome: 'again', cause: causeOf(bounded.aborted ? bounded.reason : error) }
    }
  }
}

type Connecting = (signal: AbortSignal) => Promise<https.RequestOptions>

/** Options of a request: its kept-alive connection, or one of its own through the proxy. */
function makeConnections(endpoint: URL, { trust, proxies }: CollectorRoute): Connecting {
  const isPlain = endpoint.protocol === 'http:'
  const host = unbracketed(endpoint.hostname)
  const port = Number(endpoint.port) || (isPlain ? 80 : 443)
  const proxy = proxyFor({ scheme: isPlain ? 'http' : 'https', host, port }, proxies)
  const plain = new http.Agent({ keepAlive: true, maxSockets: 1 })
  let secured: { readonly context: SecureContext; readonly agent: https.Agent } | undefined

  return async function connectionFor(signal) {
    if (isPlain) return { agent: plain }
    const context = await trust.context()
    if (proxy !== undefined) {
      const socket = await tunnelTo({ host, port }, { proxy, trust: context, signal })
      return { createConnection: () => socket }
    }
    if (secured?.context !== context)
      secured = {
        context,
        agent: new https.Agent({ keepAlive: true, maxSockets: 1, secureContext: context }),
      }
    return { agent: secured.agent }
  }
}

async function tunnelTo(
  to: { readonly host: string; readonly port: number },
  by: { readonly proxy: Proxy; readonly trust: SecureContext; readonly signal: AbortSignal },
): Promise<Socket> {
  const opened = await openTunnel(to, by)
  if (typeof opened === 'number') throw new Error(`the proxy answered with status ${opened}`)
  const servername = isIP(to.host) === 0 ? to.host : ''
  const secured = connectTLS(opened, { host: to.host, servername, secureContext: by.trust })
  return established(secured, 'secureConnect', by.signal)
}

async function post(
  options: https.RequestOptions & { readonly signal: AbortSignal },
  { endpoint, headers }: TraceSettings,
  body: string,
): Promise<Sent> {
  const client = endpoint.protocol === 'http:' ? http : https
  const request = client.request(endpoint, {
    ...options,
    method: 'POST',
    headers: {
      ...headers,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'user-agent': 'commitlet',
    },
  })
  boundHead(request)
  const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>()
  request.once('response', resolve).on('error', reject)
  whenSwitched(request, () => reject(new Error('The collector switches protocols.')))
  request.end(body)
  const response = await promise
  const read = await readBody(response, { most: LARGEST_BODY, signal: options.signal })
  if (typeof read === 'string') response.destroy()
  return sentBy(response)
}

function sentBy({ statusCode: status = 0, headers }: http.IncomingMessage): Sent {
  if (status >= 200 && status < 300) return { outcome: 'accepted' }
  const cause = `status ${status}`
  if (!RETRY_STATUSES.has(status)) return { outcome: 'refused', cause }
  const seconds = retryAfterOf({ retryAfter: headers['retry-after'], date: headers.date }, Date.now())
  return { outcome: 'again', cause, retryAfterMs: (seconds ?? 0) * 1000 }
}

/** The code of the error, or its name: its text may name what a log must not. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name
}
