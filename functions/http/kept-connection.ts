import { Readable } from 'node:stream'
import { Client } from 'undici'
import { anySignal } from '../domain/deadline.ts'
import type { Destination } from '../domain/network/route.ts'
import { bracketed } from '../domain/repository/address.ts'
import { readBounded, type BodyBounds, type BoundedBody } from './bounded-body.ts'
import { connectorTo, type ConnectionTarget } from './connection.ts'
import { callFailure, timedOut } from './failures.ts'
import { guardHeads } from './head-guard.ts'

/** One connection to one server, opened by the first request and kept for the later ones. */
export interface KeptConnection {
  /**
   * Sends a request and reads the whole answer, in so many milliseconds. Redirects are answers like any other.
   * @throws Failure NetworkError, Timeout, TLSUntrusted, AddressForbidden, ProviderUnavailable
   */
  send(request: KeptRequest, bounds: BodyBounds): Promise<KeptAnswer>
  /** Breaks off what is still under way. */
  close(): Promise<void>
}

export interface KeptRequest {
  readonly method: 'GET' | 'POST'
  /** As it is sent, from the first slash. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** The parts of the body, in order. */
  readonly body?: readonly Uint8Array[]
  readonly timeoutMs: number
  /** Asked right before the first byte is sent, once the connection is open; false: nothing is sent, and `send` throws. */
  readonly mayBegin?: (() => boolean) | undefined
}

export interface KeptAnswer {
  readonly status: number
  /** A header by its lower-case name; one that came several times: its first value. */
  readonly header: (name: string) => string | undefined
  /** Undefined: larger than its bounds allow. */
  readonly body: BoundedBody | undefined
}

/** Bytes of a push that TLS is given at once. */
const PIECE = 64 * 1024

/** Opens no connection yet; the target's signal ends every request. */
export function keepConnection(target: ConnectionTarget): KeptConnection {
  const { destination, shownHost } = target
  const ending = new AbortController()
  const signal = anySignal([target.signal, ending.signal])
  const guard = guardHeads(shownHost)
  const origin = originOf(destination)
  const client = new Client(origin, {
    // Each request has a bound of its own; a hook of the server may be silent for minutes.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: guard.watching(connectorTo({ ...target, signal })),
  })
  const guarded = client.compose(guard.interceptor)
  return {
    async send(request, bounds) {
      const { method, path, headers, timeoutMs } = request
      const bounded = anySignal([signal, AbortSignal.timeout(timeoutMs)])
      try {
        const answer = await guarded.request({
          origin,
          method,
          path,
          headers: { ...headers, ...lengthOf(request) },
          body: bodyOf(request),
          signal: bounded,
        })
        return {
          status: answer.statusCode,
          header: (name) => [answer.headers[name] ?? []].flat()[0],
          body: await readBounded(answer.body, bounds),
        }
      } catch (error) {
        throw bounded.aborted ? timedOut(shownHost, bounded.reason) : callFailure(error, shownHost)
      }
    },
    async close() {
      ending.abort()
      await client.destroy()
    },
  }
}

// Of a body in pieces undici does not know the length.
function lengthOf({ body = [], mayBegin }: KeptRequest): Readonly<Record<string, string>> {
  const bytes = body.reduce((sum, { length }) => sum + length, 0)
  return mayBegin === undefined ? {} : { 'content-length': String(bytes) }
}

function originOf({ scheme, host, port }: Destination): string {
  return `${scheme}://${bracketed(host)}:${port}`
}

function bodyOf({ body, mayBegin }: KeptRequest): Uint8Array | Readable | null {
  if (body === undefined) return null
  if (mayBegin === undefined) return joined(body)
  return Readable.from(onceBegun(body, mayBegin), { objectMode: false })
}

/** undici sends the head of a request with the first piece of such a body. */
function* onceBegun(body: readonly Uint8Array[], mayBegin: () => boolean): Generator<Uint8Array> {
  if (!mayBegin()) throw new Error('it may not begin any more')
  yield* inPieces(body)
}

/**
 * The same bytes in pieces of 64 KiB, the next one once the last has been taken: TLS makes a copy of what it is given, and keeps
 * it for as long as the server reads nothing.
 */
function* inPieces(body: readonly Uint8Array[]): Generator<Uint8Array> {
  let piece: Uint8Array[] = []
  let length = 0
  for (const part of body) {
    for (let start = 0; start < part.length; start += PIECE) {
      const next = part.subarray(start, start + PIECE)
      if (length > 0 && length + next.length > PIECE) {
        yield joined(piece)
        piece = []
        length = 0
      }
      piece.push(next)
      length += next.length
    }
  }
  if (length > 0) yield joined(piece)
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const [only] = parts
  return parts.length === 1 && only !== undefined ? only : Buffer.concat(parts)
}
