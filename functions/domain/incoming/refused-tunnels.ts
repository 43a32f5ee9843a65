import type { Server, Socket } from 'node:net'

/**
 * Ends connections on which a tunnel is asked for (CONNECT; RFC 9110, 9.3.6), as Node does where nobody listens to that. Alone it
 * would let go of them before: the responses to other requests of the connection would never close, and whatever waits for that
 * would be kept for good. To be called before the server listens.
 */
export function refuseTunnels(server: Server): void {
  const listeners = new WeakMap<Socket, ReturnType<Socket['listeners']>>()

  function remember(socket: Socket): void {
    listeners.set(socket, socket.listeners('close'))
  }

  function refuse(_request: unknown, socket: Socket): void {
    const left = socket.listeners('close')
    // Those of Node, which ends what is left of the connection in them.
    for (const taken of listeners.get(socket) ?? [])
      if (!left.includes(taken)) socket.once('close', taken as () => void)
    socket.destroy()
  }

  server.on('connection', remember).on('secureConnection', remember).on('connect', refuse)
}
