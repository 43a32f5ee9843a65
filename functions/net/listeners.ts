import { once } from 'node:events'
import { createServer, type AddressInfo, type Server } from 'node:net'
import type { FastifyInstance, RawServerBase } from 'fastify'

/**
 * libuv accepts one connection of a socket in each turn of the event loop, and a turn takes 0.1 s and more where there is much to do and
 * others use the processors.
 */
const SOCKETS = 16
/** What Node reports where sockets of a port do not divide its connections: elsewhere than on Linux, and on WSL 1 (SO_REUSEPORT). */
const UNDIVIDED: readonly unknown[] = ['ENOTSUP', 'ENOPROTOOPT']

/** Where to listen. */
export interface ListenPlace {
  readonly host: string
  readonly port: number
}

/**
 * Returns how to let the app listen with 16 sockets, among which the kernel divides new connections, so that so many are accepted in a
 * turn of the event loop; with one where it cannot. That resolves with the address, and rejects as the app's own does. To be called
 * before the app is ready. Closing it ends all of them at once, and waits for the answers of all connections.
 */
export function listenWithMany<S extends RawServerBase>(
  app: FastifyInstance<S>,
): (place: ListenPlace) => Promise<string> {
  const server: Server = app.server
  const others: Server[] = []
  let closed: Promise<unknown> = Promise.resolve()
  // Fastify waits for this hook for ten seconds, and for the next one as long as it takes.
  app.addHook('preClose', (done) => {
    closed = Promise.all(others.map((other) => new Promise((resolve) => other.close(resolve))))
    done()
  })
  app.addHook('onClose', () => closed)

  async function addOthers(shared: ListenPlace): Promise<void> {
    const { port } = server.address() as AddressInfo
    // Node keeps on its servers what their sockets have: those of HTTP stay half open, those of TLS do not.
    const { allowHalfOpen = false } = server as { readonly allowHalfOpen?: boolean }
    const options = { allowHalfOpen, noDelay: true }
    while (others.length < SOCKETS - 1) {
      const other = createServer(options, (socket) => void server.emit('connection', socket))
      others.push(other)
      await once(other.listen({ ...shared, port }), 'listening')
    }
  }

  return async (place) => {
    await requireFree(place)
    const shared = { ...place, reusePort: true }
    const address = await app.listen(shared).catch(unlessUndivided)
    if (address === undefined) return app.listen(place)
    try {
      await addOthers(shared)
    } catch (error) {
      // Those that are open would keep the program alive, and the port.
      await app.close()
      throw error
    }
    return address
  }
}

function unlessUndivided(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && UNDIVIDED.includes(error.code)) return undefined
  throw error
}

/** Sockets that share a port share it with those of another program of this user, too: two replicas in the network of one node, say. */
async function requireFree(place: ListenPlace): Promise<void> {
  const alone = createServer((socket) => socket.destroy())
  await once(alone.listen({ ...place }), 'listening')
  alone.close()
}
