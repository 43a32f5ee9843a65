import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'

/** How often a Broker passes an event on that is not taken, and how long it waits before the next time. */
const BROKER = { attempts: 100, pauseMs: 500 }

/** A sink between the webhook and the functions, such as a Broker or a load balancer. */
export interface Relay {
  readonly url: string
  /** The functions, called in turn. */
  readonly targets: string[]
  /** While it is set, events get 202 and are dropped. */
  losing: boolean
  /** While it is set, events are accepted at once, and passed on as a Broker does: again until a target takes them. */
  accepting: boolean
  /** Subjects (`<namespace>/<name>`) of the events that were lost, in order. */
  readonly lost: string[]
  /** Subjects of the events that were passed on, in order. */
  readonly passed: string[]
  /** Answers of the targets: the body, and the status by which target, to an event of which subject. */
  readonly answers: {
    readonly target: string
    readonly subject: string
    readonly status: number
    readonly body: string
  }[]
  close(): Promise<void>
}

/** Starts a relay on 127.0.0.1 without any target: until there is one it breaks connections off. */
export async function startRelay(): Promise<Relay> {
  const server = createServer((incoming, response) => {
    void relay(incoming, response).catch(() => incoming.socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  let turn = 0

  async function relay(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(incoming)
    if (self.losing) {
      self.lost.push(String(incoming.headers['ce-subject']))
      response.writeHead(202).end()
      return
    }
    const target = self.targets[turn++ % self.targets.length]
    if (target === undefined) throw new Error('There is no target.')
    self.passed.push(String(incoming.headers['ce-subject']))
    if (self.accepting) {
      response.writeHead(202).end()
      return passOn(target, incoming, body)
    }
    const answer = await forward(target, incoming, body)
    const subject = String(incoming.headers['ce-subject'])
    self.answers.push({ target, subject, status: answer.status, body: answer.body.toString() })
    response.writeHead(answer.status, answer.headers).end(answer.body)
  }

  const self: Relay = {
    url: `http://localhost:${port}`,
    targets: [],
    losing: false,
    accepting: false,
    lost: [],
    passed: [],
    answers: [],
    close() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
  return self
}

async function passOn(target: string, incoming: IncomingMessage, body: Buffer): Promise<void> {
  for (let attempts = 1; attempts <= BROKER.attempts; attempts += 1) {
    const answer = await forward(target, incoming, body).catch(() => undefined)
    if (answer !== undefined && answer.status < 500) return
    await wait(BROKER.pauseMs)
  }
}

/** Passes a request on with its headers; the target's answer. Throws an error where the target breaks the connection off. */
export async function forward(target: string, incoming: IncomingMessage, body: Buffer) {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const headers = { ...incoming.headers, host: new URL(target).host }
  request(target, { method: 'POST', agent: false, headers })
    .once('response', resolve)
    .once('error', reject)
    .end(body)
  const answer = await promise
  return { status: answer.statusCode ?? 502, headers: answer.headers, body: await buffer(answer) }
}
