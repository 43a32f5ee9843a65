import type { Server, Socket } from 'node:net'
import type { Timing } from './timing.ts'

/** While a server closes: a request that is on its way has come by then. */
const SILENCE_MS = 2_000
/** And by then it has come whole, or is given up. */
const UNFINISHED_MS = 10_000

/** One of a server. */
export interface Connection {
  readonly socket: Socket
  /** From which it comes. */
  readonly address: string
  /** Over which its requests come: with TLS, not the same. */
  over: Socket
  unanswered: number
  held: number
  /** Whether a request has been answered over it. */
  isUsed: boolean
}

interface With {
  readonly timing: Timing
  /** Whether its last request has not come whole. */
  readonly isUnfinished: (socket: Socket) => boolean
}

/**
 * Ends the connections of a server that closes, once what is returned is called: within two seconds those without a
 * request in hand, and after 10 s those whose request has not come whole. Until then all answers are sent to their end.
 */
export function closing(
  server: Server,
  open: Iterable<Connection>,
  { timing, isUnfinished }: With,
): () => void {
  // Node's own, which is called when the server closes, also ends connections over which an answer is still being sent.
  Object.assign(server, {
    closeIdleConnections() {
      for (const { socket, unanswered, held, isUsed } of open)
        if (isUsed && unanswered + held === 0) socket.destroy()
    },
  })

  function closeSilent(): void {
    for (const { socket, unanswered, held } of open) if (unanswered + held === 0) socket.destroy()
  }

  function giveUpUnfinished(): void {
    for (const { socket, over } of open) if (isUnfinished(over)) socket.destroy()
  }

  return () => {
    const closed = new AbortController()
    const timer = setInterval(closeSilent, SILENCE_MS)
    server.once('close', () => {
      clearInterval(timer)
      closed.abort()
    })
    timing.wait(UNFINISHED_MS, closed.signal).then(giveUpUnfinished, () => undefined)
  }
}
