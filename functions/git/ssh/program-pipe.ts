import type { Socket } from 'node:net'
import type { SSHProgram } from './session.ts'

/** One program's traffic. */
export interface ProgramPipe {
  readonly program: SSHProgram
  /** Bytes that Git has sent. */
  sentBytes(): number
}

/**
 * Copies bytes between Git and the program in both directions, with backpressure; when one side ends, the other is
 * closed, also one that was closed before the call: the end of a program may be known before its beginning is.
 */
export function pipeToProgram(socket: Socket, program: SSHProgram): ProgramPipe {
  const { stream } = program
  let sent = 0
  socket.on('data', ({ length }: Buffer) => (sent += length))
  stream.on('close', () => socket.destroySoon())
  socket.on('close', () => stream.destroy())
  socket.pipe(stream)
  stream.pipe(socket)
  if (stream.destroyed) socket.destroySoon()
  if (socket.destroyed) stream.destroy()
  return { program, sentBytes: () => sent }
}
