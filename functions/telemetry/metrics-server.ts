import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo, ListenOptions } from 'node:net'
import { boundConnections } from '../domain/incoming/connections.ts'
import type { Timing } from '../domain/incoming/timing.ts'
import { atEveryAddress } from '../net/every-address.ts'
import { TIMING } from '../net/timing.ts'
import type { PrometheusMeter } from './prometheus.ts'

/** A pair of Prometheus servers keeps two open; each more uses memory. */
const MOST_CONNECTIONS = 16
/** Time limit for receiving one request, in milliseconds. */
const REQUEST_TIMEOUT_MS = 5_000
/** A scrape has a few hundred bytes. */
const LARGEST_HEAD = 8 * 1024
/** How long a text is answered again, in milliseconds. */
const SHARED_MS = 1_000
/** Most answers to an address in such a time. Who asks for more waits 5 s for a refusal. */
const MOST_ANSWERS = 20

/** What answers `GET /metrics`, on a port of its own. */
export interface MetricsServer {
  readonly port: number
  readonly close: () => Promise<void>
}

/**
 * Serves the metrics over plain HTTP, to anybody who reaches the port: they name no namespace, no repository and no user.
 * A flood costs little: 16 connections, 20 answers a second to each address, one text a second. Does not keep the process alive.
 * Rejects with Node's error if it cannot listen.
 */
export async function serveMetrics(
  { text, contentType }: Pick<PrometheusMeter, 'text' | 'contentType'>,
  port: number,
  timing: Timing = TIMING,
): Promise<MetricsServer> {
  const server = createServer({
    requestTimeout: REQUEST_TIMEOUT_MS,
    headersTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: REQUEST_TIMEOUT_MS / 5,
    maxHeaderSize: LARGEST_HEAD,
  })
  const connections = boundConnections(server, MOST_CONNECTIONS, timing)
  const share = shareText(text)

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const known = request.method === 'GET' && request.url === '/metrics'
    const shared = known ? share(request.socket.remoteAddress) : undefined
    if (shared === undefined) {
      // A body is not read, and neither is what follows it.
      await connections.slowDown(request.socket)
      response.writeHead(known ? 503 : 404, { connection: 'close' }).end()
      return
    }
    response.writeHead(200, { 'content-type': contentType }).end(await shared)
  }

  server.on('request', (request, response) => {
    const release = connections.begin(request.socket)
    if (release === undefined) return
    response.once('close', release)
    answer(request, response).catch(() => response.destroy())
  })
  await atEveryAddress((host) => listen(server, { host, port }))
  server.unref()
  return {
    port: portOf(server),
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

/** The text, at most a second old; undefined if this address has asked for it too often in that time. */
function shareText(make: () => Promise<string>): (address?: string) => Promise<string> | undefined {
  const answers = new Map<string, number>()
  let made = -Infinity
  let text = Promise.resolve('')
  return function share(address = '') {
    if (performance.now() - made > SHARED_MS) {
      made = performance.now()
      answers.clear()
      text = make()
    }
    const count = (answers.get(address) ?? 0) + 1
    answers.set(address, count)
    return count > MOST_ANSWERS ? undefined : text
  }
}

async function listen(server: Server, address: ListenOptions): Promise<void> {
  server.listen(address)
  // Rejects with the error of the server.
  await once(server, 'listening')
}

function portOf(server: Server): number {
  const address: AddressInfo | string | null = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}
