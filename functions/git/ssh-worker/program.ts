import { Writable } from 'node:stream'
import type { Duplex } from 'node:stream'
import type { ClientChannel } from 'ssh2'
import type { SSHConnection } from './connection.ts'
import { keepWords } from './kept-words.ts'
import type { ProgramEnd } from './messages.ts'

const STDERR_LIMIT = 16 * 1024 * 1024

/**
 * Copies bytes between the channel of a program and a stream in both directions, with backpressure, until the channel is
 * closed on both sides; when one side ends, the other is closed. The program's standard error is read as well, and the
 * channel is closed when it exceeds its limit: `said` gets what is kept of it, in pieces. Returns how the program ended.
 */
export async function pipeProgram(
  channel: ClientChannel,
  stream: Duplex,
  { said, ...connection }: Pick<SSHConnection, 'whenWritable'> & { readonly said: (more: string) => void },
): Promise<ProgramEnd> {
  const { promise: closed, resolve } = Promise.withResolvers<undefined>()
  const words = keepWords(said)
  let length = 0
  let exitStatus: number | undefined
  channel.stderr.on('data', (chunk: Buffer) => {
    words.add(chunk)
    length += chunk.length
    if (length > STDERR_LIMIT) channel.close()
  })
  // A message to every user comes before the answer.
  channel.on('data', words.tell)
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
  words.end()
  // What was read of the channel is on its way; nothing that is written any more has a receiver.
  if (stream.writableFinished) stream.destroy()
  else stream.once('finish', () => stream.destroy())
  return { words: words.text(), tooMuch: length > STDERR_LIMIT, exitStatus }
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
