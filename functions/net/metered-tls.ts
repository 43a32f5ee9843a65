import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls'
import { makeAllowance } from '../domain/sharing/allowance.ts'

/** A connection, metered on its way to TLS. */
export interface MeteredConnection {
  /** For `socket` of node:tls. */
  readonly below: Duplex
  /** Sets what counts the bytes that TLS has decrypted. Until then, all bytes are overhead. */
  readonly decryptedBy: (bytes: () => number) => void
}

/**
 * Begins TLS on a connection, and meters what comes. A handshake of more than 18 KiB ends it: OpenSSL checks each name of a
 * certificate against each constraint of those above it, which takes the thread 0.3 s for 30 KiB that are made for this,
 * and 0.1 s for 18 KiB.
 */
export function connectTLS(socket: Socket, options: Omit<ConnectionOptions, 'socket'>): TLSSocket {
  // undici asks the connection above for it, which cannot pass it on: each request would wait 40 ms for an ACK.
  socket.setNoDelay(true)
  const { below, decryptedBy } = meterTLS(socket)
  const secured = connect({ ...options, socket: below })
  decryptedBy(() => secured.bytesRead)
  endLongHandshake(socket, secured)
  return secured
}

function endLongHandshake(socket: Socket, secured: TLSSocket): void {
  const before = socket.bytesRead
  function count(): void {
    if (socket.bytesRead - before <= MOST_HANDSHAKE) return
    socket.off('data', count)
    secured.destroy(
      Object.assign(new Error('The handshake is too long'), { code: 'ERR_TLS_HANDSHAKE_TOO_LONG' }),
    )
  }
  socket.prependListener('data', count)
  secured.once('secureConnect', () => socket.off('data', count))
}

/** Public chains have 3 to 6 KiB; a certificate with 300 long names has 17. */
const MOST_HANDSHAKE = 18 * 1024
/** Overhead that may come at once. A handshake with its certificates, and the tickets after it, have some 10 KiB. */
const MOST_OVERHEAD = 32 * 1024
/** How fast as much is allowed again. */
const OVERHEAD_PER_SECOND = 4 * 1024
/** Bytes of data that allow one of overhead. A record has 22 bytes of it, and mostly 1,400 of data or more. */
const DATA_PER_OVERHEAD = 32
/** Bytes that TLS gets at once: 600 of the shortest messages, which take it up to 30 ms. */
const PIECE = 16 * 1024
/** The piece where hardly any overhead is allowed. */
const LEAST_PIECE = 1024

/**
 * Stands between a connection and TLS, and gives TLS what comes in pieces. A peer whose bytes become no data leaves
 * turns of the event loop to others, and once 32 KiB are used up, 4 KiB a second of its bytes are read.
 *
 * Without this, Node gives TLS up to 2 MiB in one turn, and OpenSSL reads messages such as KeyUpdate and
 * NewSessionTicket (RFC 8446, 4.6) without a limit.
 */
export function meterTLS(socket: Socket): MeteredConnection {
  let decrypted = (): number => 0
  let counted = 0
  const overhead = makeAllowance(MOST_OVERHEAD, OVERHEAD_PER_SECOND, () => performance.now())
  let rest: Buffer = Buffer.alloc(0)
  let [isWanted, isWaiting, isEnded] = [false, false, false]
  let timer: NodeJS.Timeout | undefined

  /** Gives TLS the next piece, and returns whether most of it became data. `allowed`: bytes of overhead. */
  function givePiece(allowed: number): boolean {
    const piece = rest.subarray(0, Math.max(LEAST_PIECE, Math.min(PIECE, allowed)))
    rest = rest.subarray(piece.length)
    isWanted = below.push(piece)
    const data = decrypted() - counted
    counted += data
    overhead.spend(piece.length - data - data / DATA_PER_OVERHEAD)
    return data * 2 > piece.length
  }

  function give(): void {
    isWaiting = false
    while (isWanted && rest.length > 0) {
      const allowed = overhead.left()
      if (allowed <= 0) {
        wait((-allowed / OVERHEAD_PER_SECOND) * 1_000 + 1)
        return
      }
      if (!givePiece(allowed)) {
        wait(0)
        return
      }
    }
    if (rest.length === 0 && isEnded) below.push(null)
    else if (rest.length === 0 && isWanted) socket.resume()
    else socket.pause()
  }

  function wait(milliseconds: number): void {
    isWaiting = true
    socket.pause()
    if (milliseconds === 0) setImmediate(give)
    else timer = setTimeout(give, milliseconds)
  }

  function more(): void {
    if (!isWaiting) give()
  }

  const below = new Duplex({
    read() {
      isWanted = true
      more()
    },
    write(bytes: Buffer, _encoding, done) {
      socket.write(bytes, done)
    },
    final(done) {
      socket.end(done)
    },
    destroy(error, done) {
      clearTimeout(timer)
      isWanted = false
      socket.destroy()
      done(error)
    },
  })
  function end(): void {
    isEnded = true
    more()
  }
  socket.on('data', (bytes: Buffer) => {
    rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes])
    more()
  })
  socket.on('end', end).on('close', end)
  socket.on('error', (error) => below.destroy(error))
  return {
    below,
    decryptedBy(bytes) {
      decrypted = bytes
    },
  }
}
