import type { Socket } from 'node:net'
import type { ClientChannel } from 'ssh2'

/** One channel's traffic. */
export interface ChannelPipe {
  /** Bytes that Git has sent. */
  sentBytes(): number
  /** What the program on the server has said beside. */
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

/** More than a sentence could need. */
const KEPT_BYTES = 64 * 1024
const WORDS_LIMIT = 16 * 1024 * 1024

/**
 * Carries bytes between Git and the channel, each side at the other's pace; the end of one side is the end of the
 * other. The program's standard error is read along, and the channel is closed when that goes on for too long.
 */
export function pipeChannel(socket: Socket, channel: ClientChannel): ChannelPipe {
  const { promise: closed, resolve } = Promise.withResolvers<undefined>()
  const kept: Buffer[] = []
  let [words, sent] = [0, 0]
  let exitStatus: number | undefined
  channel.stderr.on('data', (chunk: Buffer) => {
    if (words < KEPT_BYTES) kept.push(chunk)
    words += chunk.length
    if (words > WORDS_LIMIT) channel.close()
  })
  channel.on('exit', (code: number | null) => (exitStatus = code ?? undefined))
  channel.on('close', () => {
    socket.destroySoon()
    resolve(undefined)
  })
  socket.on('data', ({ length }: Buffer) => (sent += length))
  socket.on('close', () => {
    // Git may have gone before it has read everything: the rest is let go, or the channel would never close.
    channel.unpipe(socket)
    channel.resume()
    channel.close()
  })
  socket.pipe(channel)
  channel.pipe(socket)
  return {
    sentBytes: () => sent,
    programEnd: () => ({ words: Buffer.concat(kept).toString(), tooMuch: words > WORDS_LIMIT, exitStatus }),
    closed,
  }
}
