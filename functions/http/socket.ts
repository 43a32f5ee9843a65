import type { Socket } from 'node:net'

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
  const stop = (): void => reject(signal.reason)
  const closed = (): void =>
    reject(Object.assign(new Error('The connection was closed.'), { code: 'ECONNRESET' }))
  socket.once(event, () => resolve(undefined))
  // Stays: whoever takes the socket over may not have listened yet when it breaks.
  socket.on('error', reject)
  socket.once('close', closed)
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  try {
    await promise
    return socket
  } catch (error) {
    socket.destroy()
    throw error
  } finally {
    socket.off('close', closed)
    signal.removeEventListener('abort', stop)
  }
}
