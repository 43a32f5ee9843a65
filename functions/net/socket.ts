import type { Socket } from 'node:net'
import { unlessAborted } from '../domain/deadline.ts'

/**
 * Waits until the socket is connected and returns it, or destroys it. Rejects with Node's error, with the signal's
 * reason, or with the code ECONNRESET if the peer closes without an error.
 */
export async function established(
  socket: Socket,
  event: 'connect' | 'secureConnect',
  signal: AbortSignal,
): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<undefined>()
  const closed = (): void =>
    reject(Object.assign(new Error('The connection was closed.'), { code: 'ECONNRESET' }))
  socket.once(event, () => resolve(undefined))
  // Not removed: the socket may fail before its next user has added a listener.
  socket.on('error', reject)
  socket.once('close', closed)
  try {
    await unlessAborted(promise, signal)
    return socket
  } catch (error) {
    socket.destroy()
    throw error
  } finally {
    socket.off('close', closed)
  }
}
