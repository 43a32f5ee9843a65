import type { Socket } from 'node:net'
import { unlessAborted } from '../domain/deadline.ts'

/**
 * Waits until the socket is connected, and answers it; destroys it otherwise. Rejects with Node's own error, with the
 * signal's reason, or with the code ECONNRESET where the other side only closes.
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
  // Stays: whoever takes the socket over may not have listened yet when it breaks.
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
