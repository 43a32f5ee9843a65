import type { Socket } from 'node:net'
import type { ClientChannel } from 'ssh2'

/** One channel's traffic. */
export interface ChannelPipe {
  /** Bytes that Git has sent. */
  sentBytes(): number
  /** How the program on the server ended, and its standard error. */
  programEnd(): ProgramEnd
  /** Resolves when the channel is closed on both sides. */
  readonly closed: Promise<undefined>
}

export interface ProgramEnd {
  /** Beginning of what it wrote to its standard error. */
  readonly words: string
  /** It wrote more than 16 MiB there. */
  readonly tooMuch: boolean
  /** Undefined: it has not ended, or the server did not say how. */
  readonly exitStatus: number | undefined
}

/** More than a message can show. */
const KEPT_BYTES = 64 * 1024
const STDERR_LIMIT = 16 * 1024 * 1024

/**
 * Copies bytes between Git and the channel in both directions, with backpressure; when one side ends, the other is
 * closed. The program's standard error is read as well, and the channel is closed when it exceeds its limit.
 */
export function pipeChannel(socket: Socket, channel: ClientChannel): ChannelPipe {
  const { promise: closed, resolve } = Promise.withResolvers<undefined>()
  const kept: Buffer[] = []
  let [words, sent] = [0, 0]
  let exitStatus: number | undefined
  channel.stderr.on('data', (chunk: Buffer) => {
    if (words < KEPT_BYTES) kept.push(chunk)
    words += chunk.length
    if (words > STDERR_LIMIT) channel.close()
  })
  channel.on('exit', (code: number | null) => (exitStatus = code ?? undefined))
  channel.on('close', () => {
    socket.destroySoon()
    resolve(undefined)
  })
  socket.on('data', ({ length }: Buffer) => (sent += length))
  socket.on('close', () => {
    // Git may end before it has read everything: the rest is discarded, or the channel would never close.
    channel.unpipe(socket)
    channel.resume()
    channel.close()
  })
  socket.pipe(channel)
  channel.pipe(socket)
  return {
    sentBytes: () => sent,
    programEnd: () => ({ words: Buffer.concat(kept).toString(), tooMuch: words > STDERR_LIMIT, exitStatus }),
    closed,
  }
}
