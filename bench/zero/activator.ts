import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { forward } from '../../test/harness/relay.ts'

/** A sink that starts the function for the first event, and holds events until it is ready, as Knative's activator does. */
export interface Activator {
  readonly url: string
  /** The next event starts the function again. */
  readonly toZero: () => void
  readonly close: () => Promise<void>
}

/** Opens one on 127.0.0.1; `start` starts the function, and returns its address once it is ready. */
export async function openActivator(start: () => Promise<string>): Promise<Activator> {
  let started: Promise<string> | undefined
  const server = createServer((incoming, response) => {
    void pass(incoming).then(
      ({ status, headers, body }) => response.writeHead(status, headers).end(body),
      () => incoming.socket.destroy(),
    )
  })

  async function pass(incoming: IncomingMessage): ReturnType<typeof forward> {
    const body = await buffer(incoming)
    started ??= start()
    return forward(await started, incoming, body)
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://localhost:${port}`,
    toZero: () => void (started = undefined),
    close() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
