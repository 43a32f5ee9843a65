import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls'
import { asFailure } from '../domain/failure.ts'
import type { Share } from '../domain/network/share.ts'
import { makeAllowance } from '../domain/sharing/allowance.ts'

/** A connection, metered on its way to TLS. */
export interface MeteredConnection {
  /** For `socket` of node:tls. */
  readonly below: Duplex
  /** Sets what counts the bytes that TLS has decrypted. Until then, all bytes are overhead. */
  readonly decryptedBy: (bytes: () => number) => void
  /** What comes from now on is given to TLS at once, and no longer in a share. */
  readonly endShare: () => void
}

/**
 * Begins TLS on a connection, and meters what comes. A handshake of more than 12 KiB ends it: OpenSSL checks each signature of
 * the certificates that a server sends, whoever has made them, and each of their names against each constraint of those
 * above. With the slowest curve, 12 KiB that are made for this take the thread 0.1 s. Therefore all of the handshake
 * is read in the `share` of whoever names the host; left out: at once, for hosts of the operator's.
 *
 * After 'close' no error is told: Node tells one then where a server resets the connection below while something is written, and
 * undici has let go of the connection by then, so that it would be an uncaught exception.
 */
export function connectTLS(
  socket: Socket,
  options: Omit<ConnectionOptions, 'socket'>,
  share?: Share,
): TLSSocket {
  // undici asks the connection above for it, which cannot pass it on: each request would wait 40 ms for an ACK.
  socket.setNoDelay(true)
  const { below, decryptedBy, endShare } = meterTLS(socket, share)
  const secured = connect({ ...options, socket: below })
  decryptedBy(() => secured.bytesRead)
  endLongHandshake(socket, secured)
  secured.once('secureConnect', endShare)
  secured.once('close', () => secured.removeAllListeners('error').on('error', () => undefined))
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

/** Public chains have 3 to 6 KiB; a certificate with 180 long names, or with 300 of usual length, has 11. */
const MOST_HANDSHAKE = 12 * 1024
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
export function meterTLS(socket: Socket, share?: Share): MeteredConnection {
  let decrypted = (): number => 0
  let counted = 0
  const overhead = makeAllowance(MOST_OVERHEAD, OVERHEAD_PER_SECOND, () => performance.now())
  let rest: Buffer = Buffer.alloc(0)
  let [isWanted, isWaiting, isEnded] = [false, false, false]
  let timer: NodeJS.Timeout | undefined
  let shared = share

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
      if (shared !== undefined) {
        giveInShare(shared)
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

  function giveInShare(share: Share): void {
    isWaiting = true
    socket.pause()
    const given = share(() => isWanted && givePiece(overhead.left()))
    given.then(give, (error: unknown) => below.destroy(asFailure(error)))
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
    endShare() {
      shared = undefined
    },
  }
}
