import { request as plainRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { Test } from 'tap'
import type { HostFault, SeenRequest } from '../harness/hosts/host-handler.ts'
import { API_PATH } from './gitea-api.ts'
import type { Certificate } from '../harness/certificates.ts'

/** Faults on the way to the real server: it gets every request. */
export type IngressFault = Extract<HostFault, { readonly kind: 'meanwhile' | 'lost answer' }>

/** HTTPS in front of a server that speaks HTTP, as the ingress of a cluster. */
export interface Ingress {
  /** `https://localhost:PORT` */
  readonly origin: string
  /** The requests of its API in the order of their ends, with paths below the API's. */
  readonly seen: SeenRequest[]
  /** The next request of the API whose method fits gets the fault, once for each call. */
  fail(fault: IngressFault, fits: (method: string) => boolean): void
  /** Sends all requests to this port of 127.0.0.1. */
  leadTo(port: number): void
}

/** Starts the ingress; it ends with the test. */
export async function startIngress(t: Test, { certPEM, keyPEM }: Certificate): Promise<Ingress> {
  const planned: { readonly fault: IngressFault; readonly fits: (method: string) => boolean }[] = []
  const seen: SeenRequest[] = []
  let target = 0
  const server = createServer({ cert: certPEM, key: keyPEM }, (incoming, response) => {
    pass(incoming, response).catch((error: unknown) => response.destroy(error as Error))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return {
    origin: `https://localhost:${(server.address() as AddressInfo).port}`,
    seen,
    fail: (fault, fits) => void planned.push({ fault, fits }),
    leadTo: (port) => void (target = port),
  }

  async function pass(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = incoming
    if (!url.startsWith(API_PATH)) {
      const answer = await forward(incoming, incoming)
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      return void answer.pipe(response)
    }
    const index = planned.findIndex(({ fits }) => fits(method))
    const fault = index < 0 ? undefined : planned.splice(index, 1)[0]?.fault
    const written = await buffer(incoming)
    if (fault?.kind === 'meanwhile') await fault.happens()
    const answer = await forward({ method, url, headers }, written)
    const body = await buffer(answer)
    const status = answer.statusCode ?? 502
    seen.push({ method, path: url.slice(API_PATH.length), body: written.toString(), status })
    if (fault?.kind === 'lost answer') response.socket?.destroy()
    else response.writeHead(status, answer.headers).end(body)
  }

  async function forward(
    { method = '', url = '', headers }: Pick<IncomingMessage, 'method' | 'url' | 'headers'>,
    content: Buffer | IncomingMessage,
  ): Promise<IncomingMessage> {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    const to = { host: '127.0.0.1', port: target, method, path: url, headers, agent: false }
    const asked = plainRequest(to, resolve).once('error', reject)
    if (Buffer.isBuffer(content)) asked.end(content)
    else content.pipe(asked)
    return promise
  }
}
