import type { Server, Socket } from 'node:net'
import { OVER } from '../deadline.ts'
import type { Timing } from './timing.ts'

/** An answer has been taken by then, or its connection is ended: it holds memory, and keeps a server from closing. */
const TAKEN_MS = 10_000

/** A response of node:http. */
interface Outgoing {
  readonly socket: Socket | null
  readonly once: (event: 'prefinish' | 'close', listener: () => void) => unknown
}

/** Calls `giveUp` with each connection that has not taken a whole answer for 10 s. To be called before the server listens. */
export function giveUpUntaken(server: Server, timing: Timing, giveUp: (socket: Socket) => void): void {
  async function waitFor(response: Outgoing): Promise<void> {
    const { socket } = response
    // The operating system has all of it.
    if (socket === null || socket.writableLength === 0) return
    const taken = new AbortController()
    response.once('close', () => taken.abort(OVER))
    await timing.wait(TAKEN_MS, taken.signal).then(
      () => giveUp(socket),
      () => undefined,
    )
  }

  server.on('request', (_request: unknown, response: Outgoing) => {
    // It has ended, and so have all before it on its connection.
    response.once('prefinish', () => void waitFor(response))
  })
}
