import { request as plainRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { Test } from 'tap'
import type { HostAnswer } from '../harness/hosts/dialect.ts'
import type { HostFault, SeenRequest } from '../harness/hosts/host-handler.ts'
import { API_PATH } from './gitea-api.ts'
import type { Certificate } from '../harness/certificates.ts'

/** HTTPS in front of a server that speaks HTTP, as the ingress of a cluster. */
export interface Ingress {
  /** `https://localhost:PORT` */
  readonly origin: string
  /** The requests of its API in the order of their ends, with paths below the API's. */
  readonly seen: SeenRequest[]
  /** The next request of the API whose method fits gets the fault, once for each call. */
  fail(fault: HostFault, fits?: (method: string, path: string) => boolean): void
  /** Removes all planned faults. */
  forget(): void
  /** Sends all requests to this port of 127.0.0.1. */
  leadTo(port: number): void
}

interface Planned {
  readonly fault: HostFault
  readonly fits: (method: string, path: string) => boolean
}

type Forwarded = Pick<IncomingMessage, 'method' | 'url' | 'headers'>

/** Starts the ingress; it ends with the test. */
export async function startIngress(t: Test, { certPEM, keyPEM }: Certificate): Promise<Ingress> {
  const planned: Planned[] = []
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
    fail: (fault, fits = () => true) => void planned.push({ fault, fits }),
    forget: () => void (planned.length = 0),
    leadTo: (port) => void (target = port),
  }

  async function pass(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = incoming
    if (!url.startsWith(API_PATH)) {
      const answer = await forward(incoming, incoming)
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      return void answer.pipe(response)
    }
    const path = url.slice(API_PATH.length)
    const index = planned.findIndex(({ fits }) => fits(method, path))
    const fault = index < 0 ? undefined : planned.splice(index, 1)[0]?.fault
    const written = await buffer(incoming)
    const see = (status: number): void => void seen.push({ method, path, body: written.toString(), status })
    if (fault?.kind === 'silence') {
      see(0)
      return
    }
    if (fault?.kind === 'meanwhile') await fault.happens()
    const answer = fault?.kind === 'answer' ? fault.answer : await answered({ method, url, headers }, written)
    see(answer.status)
    if (fault?.kind === 'lost answer') response.socket?.destroy()
    else send(response, fault?.kind === 'changed' ? await fault.change(parsed(answer)) : answer)
  }

  async function answered(request: Forwarded, written: Buffer): Promise<HostAnswer> {
    const answer = await forward(request, written)
    const headers = Object.entries(answer.headers).map(([name, value]) => [name, String(value)])
    const body = (await buffer(answer)).toString()
    return { status: answer.statusCode ?? 502, headers: Object.fromEntries(headers), body }
  }

  async function forward(
    { method = '', url = '', headers }: Forwarded,
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

function parsed({ status, headers = {}, body }: HostAnswer): HostAnswer {
  // The length may change.
  const others = Object.entries(headers).filter(([name]) => name !== 'content-length')
  return {
    status,
    headers: Object.fromEntries(others),
    body: body === '' ? undefined : (JSON.parse(String(body)) as unknown),
  }
}

function send(response: ServerResponse, { status, headers = {}, body }: HostAnswer): void {
  response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body))
}
