import { AsyncLocalStorage } from 'node:async_hooks'
import type { Server } from 'node:https'
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import type { InReadingTurn } from '../functions/domain/incoming/reading-turns.ts'
import type { HandshakeShares } from './handshake-shares.ts'
import { findRecords } from './tls-records.ts'

/**
 * Bytes that a client may send until its handshake is done. That of an API server has some 4 KiB: its certificate, and up
 * to three above it. OpenSSL checks a chain to its end before the client has proved anything, and each name against
 * each constraint: a chain of 83 KiB, which OpenSSL takes, holds the thread for 1.7 s, and one of 12 KiB for 40 ms.
 */
const MOST_HANDSHAKE = 12 * 1024
/**
 * Records of a connection that TLS is given in a turn of the event loop. Each takes some microseconds, and 550 bytes until it is
 * read, however short it is: Node alone reads 2 MiB in a turn, and 65,536 records of a connection that is paused.
 */
const MOST_RECORDS = 32

interface Below {
  readonly socket: Socket
  /** Of the connection above it, once its handshake is done. */
  isPaused: (() => boolean) | undefined
  /** Gives TLS what it may have now. */
  feed: () => void
}

/**
 * What is below a connection until its handshake is done. All that begins for its requests, such as the limit of a call, keeps this
 * in its asynchronous context, and a timer until it fires: 16 KB for each connection that is closed, if it still led there.
 */
interface Beginning {
  below: Below | undefined
}

/** When TLS is given what has come. */
export interface TLSOrder {
  readonly inTurn: InReadingTurn
  readonly shares: HandshakeShares
}

/**
 * Ends connections whose handshake is too long, before TLS is given what is too much, and gives it 32 records in a turn of
 * the event loop, when it is the turn of the address, and none while the connection is paused. Of handshakes, an address whose
 * are slow has a share. For servers before they listen, and after everything else that follows their connections.
 */
export function boundTLS(server: Server, order: TLSOrder): void {
  const connections = new AsyncLocalStorage<Beginning>()
  const begin = server.listeners('connection')[0]
  if (begin === undefined) return
  server.off('connection', begin as () => void)
  server.on('connection', (socket: Socket) => {
    if (socket.destroyed) return
    const below: Below = { socket, isPaused: undefined, feed: () => undefined }
    connections.run({ below }, () => void begin.call(server, bounded(below, order)))
  })
  server.prependListener('secureConnection', (secured) => {
    const beginning = connections.getStore()
    const below = beginning?.below
    if (beginning === undefined || below === undefined) return
    beginning.below = undefined
    below.isPaused = () => secured.isPaused()
    secured.on('resume', below.feed)
    // A connection that is secured above a stream has no addresses.
    const { remoteAddress, remotePort } = below.socket
    Object.defineProperties(secured, {
      remoteAddress: { value: remoteAddress },
      remotePort: { value: remotePort },
    })
  })
}

/** What TLS reads and writes instead of the connection. */
function bounded(below: Below, { inTurn, shares }: TLSOrder): Duplex {
  const { socket } = below
  const endOfRecords = findRecords()
  const closed = new AbortController()
  let waiting: Buffer = Buffer.alloc(0)
  let isWanted = false
  let isGiving = false
  let hasEnded = false
  socket.setNoDelay(true)
  const stream = new Duplex({
    read() {
      isWanted = true
      feed()
    },
    write: (bytes: Buffer, _encoding, done) => void socket.write(bytes, done),
    final: (done) => void socket.end(done),
    destroy(error, done) {
      closed.abort()
      socket.destroy()
      done(error)
    },
  })

  function feed(): void {
    if (!isWanted || isGiving || stream.destroyed || below.isPaused?.() === true) return
    if (waiting.length > 0) {
      isGiving = true
      takeTurn()
    } else if (hasEnded) stream.push(null)
    else socket.resume()
  }
  function takeTurn(): void {
    inTurn(socket.remoteAddress, give)
  }
  function give(): void {
    if (stream.destroyed) return
    if (below.isPaused !== undefined) {
      if (below.isPaused()) isGiving = false
      else giveRecords()
      return
    }
    const free = shares.untilFree(socket.remoteAddress, closed.signal)
    if (free === undefined) shares.count(socket.remoteAddress, giveRecords)
    else free.then(takeTurn, () => undefined)
  }
  function giveRecords(): void {
    const end = endOfRecords(waiting, MOST_RECORDS)
    const records = waiting.subarray(0, end)
    waiting = waiting.subarray(end)
    isWanted = stream.push(records)
    if (waiting.length > 0) setImmediate(feedAgain)
    else feedAgain()
  }
  function feedAgain(): void {
    isGiving = false
    feed()
  }

  below.feed = feed
  socket.on('data', (bytes: Buffer) => {
    if (below.isPaused === undefined && socket.bytesRead > MOST_HANDSHAKE) {
      stream.destroy()
      return
    }
    socket.pause()
    waiting = waiting.length === 0 ? bytes : Buffer.concat([waiting, bytes])
    feed()
  })
  socket.on('end', () => {
    hasEnded = true
    feed()
  })
  socket.on('close', () => stream.destroy())
  socket.on('error', (error) => stream.destroy(error))
  return stream
}
