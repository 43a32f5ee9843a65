import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A sink in front of that of an installation on a shared control plane. */
export interface ConfinedSink {
  readonly url: string
  close(): Promise<void>
}

/**
 * Forwards only the events of these namespaces to the target: sweeps list the whole cluster, and find what other
 * test files have there. All other events get 202 and are dropped. A connection that the target breaks is broken too.
 */
export async function startConfinedSink(
  target: () => string,
  isOurs: (namespace: string) => Promise<boolean>,
): Promise<ConfinedSink> {
  const server = createServer((incoming, response) => {
    const [namespace = ''] = String(incoming.headers['ce-subject']).split('/')
    void isOurs(namespace).then(
      (ours) => (ours ? pass(target(), incoming, response) : void response.writeHead(202).end()),
      () => incoming.socket.destroy(),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://localhost:${port}`,
    close() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

function pass(target: string, incoming: IncomingMessage, response: ServerResponse): void {
  const headers = { ...incoming.headers, host: new URL(target).host }
  const asked = request(target, { method: 'POST', agent: false, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.once('error', () => incoming.socket.destroy())
    answer.pipe(response)
  })
  asked.once('error', () => incoming.socket.destroy())
  response.once('close', () => asked.destroy())
  incoming.pipe(asked)
}
