import type { Socket } from 'node:net'
import type { OnRead } from './port-stream.ts'

/** So much is told at a time: the messages of a usual connection are far less. */
const PIECE = 256 * 1024

/**
 * Tells `took` what the messages of a connection cost, in pieces, and reads no further while more than one of them has no
 * answer that more may come. Returns what is to be called with the cost of each message.
 */
export function pacePackets(took: OnRead, socket: Pick<Socket, 'pause' | 'resume'>): (cost: number) => void {
  let [untold, unanswered] = [0, 0]

  function goOn(): void {
    unanswered -= 1
    if (unanswered === 1) socket.resume()
  }

  return function count(cost) {
    untold += cost
    if (untold < PIECE) return
    unanswered += 1
    if (unanswered === 2) socket.pause()
    // At once: what came with it is counted also where the connection ends here.
    const piece = untold
    untold = 0
    took(piece, goOn)
  }
}
