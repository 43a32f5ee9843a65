import { AsyncLocalStorage } from 'node:async_hooks'
import type { Server } from 'node:https'
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'

/**
 * Bytes that a client may send until its handshake is done. That of an API server has some 4 KiB: its certificate, and up
 * to three above it. OpenSSL checks a chain to its end before the client has proved anything, and each name against
 * each constraint: a chain of 83 KiB, which OpenSSL takes, holds the thread for 1.7 s, and one of 12 KiB for 40 ms.
 */
const MOST_HANDSHAKE = 12 * 1024

interface Handshake {
  readonly socket: Socket
  isDone: boolean
}

/**
 * Ends connections whose handshake is too long, before TLS is given what is too much. For servers that ask for
 * certificates, before they listen, and after everything else that follows their connections.
 */
export function boundHandshakes(server: Server): void {
  const handshakes = new AsyncLocalStorage<Handshake>()
  const begin = server.listeners('connection')[0]
  if (begin === undefined) return
  server.off('connection', begin as () => void)
  server.on('connection', (socket: Socket) => {
    if (socket.destroyed) return
    const handshake = { socket, isDone: false }
    handshakes.run(handshake, () => void begin.call(server, bounded(handshake)))
  })
  server.prependListener('secureConnection', (secured) => {
    const handshake = handshakes.getStore()
    if (handshake === undefined) return
    handshake.isDone = true
    // A connection that is secured above a stream has no addresses.
    const { remoteAddress, remotePort } = handshake.socket
    Object.defineProperties(secured, {
      remoteAddress: { value: remoteAddress },
      remotePort: { value: remotePort },
    })
  })
}

/** What TLS reads and writes instead of the connection. */
function bounded(handshake: Handshake): Duplex {
  const { socket } = handshake
  socket.setNoDelay(true)
  const below = new Duplex({
    read: () => void socket.resume(),
    write: (bytes: Buffer, _encoding, done) => void socket.write(bytes, done),
    final: (done) => void socket.end(done),
    destroy(error, done) {
      socket.destroy()
      done(error)
    },
  })
  socket.on('data', (bytes: Buffer) => {
    if (!handshake.isDone && socket.bytesRead > MOST_HANDSHAKE) below.destroy()
    else if (!below.push(bytes)) socket.pause()
  })
  socket.on('end', () => below.push(null))
  socket.on('close', () => below.destroy())
  socket.on('error', (error) => below.destroy(error))
  return below
}
