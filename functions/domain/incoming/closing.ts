import type { Server, Socket } from 'node:net'
import type { Timing } from './timing.ts'

/** While a server closes: the next request over a connection that is used has come by then. */
const UNUSED_MS = 500
/** And the first one over a connection that is new. */
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
 * Ends the connections of a server that closes: after half a second those that have been used and have no request in hand. A
 * client such as an API server does not repeat a request that was on its way when its connection was ended. Once what is
 * returned is called, within two seconds those over which no request came yet, and after 10 s those whose request has not
 * come whole. Until then all answers are sent to their end.
 */
export function closing(
  server: Server,
  open: Iterable<Connection>,
  { timing, isUnfinished }: With,
): () => void {
  const closed = new AbortController()
  // A server waits for those connections alone that it has accepted, and not for those that others have handed to it.
  server.once('close', () => void allClosed(open).then(() => closed.abort()))

  // Node's own, which is called when the server closes, ends them at once, and others over which an answer is still being sent.
  Object.assign(server, {
    closeIdleConnections() {
      timing.wait(UNUSED_MS, closed.signal).then(
        () => afterReading(closeUnused),
        () => undefined,
      )
    },
  })

  /** What has come while the event loop was held is read between two turns. */
  function afterReading(work: () => void): void {
    timing.nextTurn(() => timing.nextTurn(work))
  }

  function closeUnused(): void {
    for (const { socket, unanswered, held, isUsed } of open)
      if (isUsed && unanswered + held === 0) socket.destroy()
  }

  function closeSilent(): void {
    for (const { socket, unanswered, held } of open) if (unanswered + held === 0) socket.destroy()
  }

  function giveUpUnfinished(): void {
    for (const { socket, over } of open) if (isUnfinished(over)) socket.destroy()
  }

  return () => {
    const timer = setInterval(() => afterReading(closeSilent), SILENCE_MS)
    closed.signal.addEventListener('abort', () => clearInterval(timer))
    timing.wait(UNFINISHED_MS, closed.signal).then(giveUpUnfinished, () => undefined)
  }
}

function allClosed(open: Iterable<Connection>): Promise<unknown> {
  const left = [...open].filter(({ socket }) => !socket.closed)
  return Promise.all(left.map(({ socket }) => new Promise((resolve) => socket.once('close', resolve))))
}
