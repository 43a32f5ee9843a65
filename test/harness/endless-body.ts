import type { Socket } from 'node:net'

const BYTES = 8 * 1024 * 1024
const CHUNK = '1\r\nx\r\n'

/**
 * Sends a request whose body are 8 MiB of chunks of one byte, without an end. Resolves with what has been answered once the
 * connection has closed. `head` is its first line and more, without the last line end.
 */
export async function sendEndlessBody(socket: Socket, head: string): Promise<string> {
  let answer = ''
  const { promise: closed, resolve } = Promise.withResolvers<undefined>()
  socket
    .on('data', (bytes: Buffer) => (answer += bytes.toString()))
    // Its writing fails once the connection is closed.
    .on('error', () => undefined)
    .on('close', () => resolve(undefined))
    .write(`${head}\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n${CHUNK.repeat(BYTES / CHUNK.length)}`)
  await closed
  return answer
}
