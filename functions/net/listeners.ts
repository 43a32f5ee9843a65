import { once } from 'node:events'
import { createServer, type AddressInfo, type Server } from 'node:net'
import type { FastifyInstance, RawServerBase } from 'fastify'

/**
 * libuv accepts one connection of a socket in each turn of the event loop, and a turn takes 0.1 s and more where there is much to do and
 * others use the processors. Elsewhere than on Linux, not all systems divide connections among the sockets of a port (SO_REUSEPORT).
 */
const SOCKETS = process.platform === 'linux' ? 16 : 1

/** Where to listen. */
export interface ListenPlace {
  readonly host: string
  readonly port: number
}

/**
 * Returns how to let the app listen with 16 sockets, among which the kernel divides new connections, so that so many are accepted in a
 * turn of the event loop. That resolves with the address, and rejects as the app's own does. To be called before the app is ready.
 * Closing it waits for the answers of all connections.
 */
export function listenWithMany<S extends RawServerBase>(
  app: FastifyInstance<S>,
): (place: ListenPlace) => Promise<string> {
  const server: Server = app.server
  const others: Server[] = []
  // Before the server itself: until that has closed, connections without a request in hand are closed.
  app.addHook('preClose', async () => {
    await Promise.all(others.map((other) => new Promise((resolve) => other.close(resolve))))
  })

  return async (place) => {
    const shared = { ...place, reusePort: SOCKETS > 1 }
    const address = await app.listen(shared)
    const { port } = server.address() as AddressInfo
    // Node keeps on its servers what their sockets have: those of HTTP stay half open, those of TLS do not.
    const { allowHalfOpen = false } = server as { readonly allowHalfOpen?: boolean }
    const options = { allowHalfOpen, noDelay: true }
    while (others.length < SOCKETS - 1) {
      const other = createServer(options, (socket) => void server.emit('connection', socket))
      others.push(other)
      await once(other.listen({ ...shared, port }), 'listening')
    }
    return address
  }
}
