import { Writable } from 'node:stream'
import type { Duplex } from 'node:stream'
import type { ClientChannel } from 'ssh2'
import { growingBuffer } from '../../domain/network/growing-buffer.ts'
import type { SSHConnection } from './connection.ts'
import type { ProgramEnd } from './messages.ts'

/** More than a message can show, and few enough for the patterns of errors, which may take quadratic time (20 ms). */
const KEPT_BYTES = 8 * 1024
const STDERR_LIMIT = 16 * 1024 * 1024

/**
 * Copies bytes between the channel of a program and a stream in both directions, with backpressure, until the channel is
 * closed on both sides; when one side ends, the other is closed. The program's standard error is read as well, and the
 * channel is closed when it exceeds its limit: `said` gets what is kept of it, each time that grows. Returns how the
 * program ended.
 */
export async function pipeProgram(
  channel: ClientChannel,
  stream: Duplex,
  { said, ...connection }: Pick<SSHConnection, 'whenWritable'> & { readonly said: (words: string) => void },
): Promise<ProgramEnd> {
  const { promise: closed, resolve } = Promise.withResolvers<undefined>()
  const kept = growingBuffer(KEPT_BYTES)
  let words = 0
  let exitStatus: number | undefined
  channel.stderr.on('data', (chunk: Buffer) => {
    if (words < KEPT_BYTES) {
      kept.add(chunk.subarray(0, KEPT_BYTES - words))
      said(kept.bytes().toString())
    }
    words += chunk.length
    if (words > STDERR_LIMIT) channel.close()
  })
  channel.on('exit', (code: number | null) => (exitStatus = code ?? undefined))
  channel.on('close', () => resolve(undefined))
  stream.on('close', () => {
    // The reader may end before it has read everything: the rest is discarded, or the channel would never close.
    channel.unpipe(stream)
    channel.resume()
    channel.close()
  })
  stream.pipe(inputOf(channel, connection))
  channel.pipe(stream)
  await closed
  // What was read of the channel is on its way; nothing that is written any more has a receiver.
  if (stream.writableFinished) stream.destroy()
  else stream.once('finish', () => stream.destroy())
  return { words: kept.bytes().toString(), tooMuch: words > STDERR_LIMIT, exitStatus }
}

/** The standard input of the program: it takes no more than the connection can send. */
function inputOf(channel: ClientChannel, { whenWritable }: Pick<SSHConnection, 'whenWritable'>): Writable {
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      channel.write(chunk, () => whenWritable(done))
    },
    final(done) {
      channel.end()
      done()
    },
  })
}
