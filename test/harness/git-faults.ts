import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { deflateSync } from 'node:zlib'
import type { BackendAnswer } from './git-backend.ts'
import type { Command, Exchange } from './git-exchange.ts'

/**
 * The kinds of fault. `cut` applies the request and breaks the connection after `bytes` of the answer's
 * body (default: half of it); `lost` applies it and does not answer; `drop` breaks the connection without
 * applying it; `hang` stays silent; `hold` goes on as usual when `until` is fulfilled, either `before`
 * the request is applied, or `after` that and before the answer, or once it is `read`: then it is applied although
 * the client has gone, and `applied` is called; `echo` puts the Authorization header,
 * as it came and decoded, into the body; `endless` is a well-formed answer without an end; `elsewhere` asks a client
 * that fetches to get one more pack from another address (packfile-uris of protocol version 2); `twice` applies the request,
 * waits for `between` and applies it again, as proxies do that send a request once more, and answers what came of the second.
 */
export type Fault =
  | {
      readonly kind: 'status'
      readonly status: number
      readonly headers?: Headers
      readonly body?: string | Buffer
    }
  | { readonly kind: 'redirect'; readonly location: string; readonly status?: number }
  | { readonly kind: 'echo'; readonly status: number }
  | { readonly kind: 'cut'; readonly bytes?: number }
  | { readonly kind: 'hold'; readonly when: 'before' | 'after'; readonly until: Promise<unknown> }
  | {
      readonly kind: 'hold'
      readonly when: 'read'
      readonly until: Promise<unknown>
      readonly applied: () => void
    }
  | { readonly kind: 'elsewhere'; readonly uri: string }
  | { readonly kind: 'twice'; readonly between: () => Promise<unknown> }
  | { readonly kind: 'page' | 'hang' | 'lost' | 'drop' | 'endless' }

type Headers = Readonly<Record<string, string>>

/** The requests that a fault affects: all that match the members, after `skip` of them, `times` times. */
export interface Target {
  readonly repository?: string
  readonly exchange?: Exchange
  /** Only with exchange `upload-pack`: the command of protocol version 2. */
  readonly command?: Command
  /** Default 0. */
  readonly skip?: number
  /** Default: until it is switched off. */
  readonly times?: number
}

/** A request as the table matches it. */
export interface Struck {
  readonly repository: string
  readonly exchange: Exchange
  readonly command: Command | undefined
}

/** The faults that are switched on now. */
export interface FaultTable {
  /** Switches a fault on; the returned function switches it off again. */
  add(fault: Fault, target?: Target): () => void
  clear(): void
  /** The first fault that affects this request; counts it. */
  take(request: Struck): Fault | undefined
}

/** An empty table. */
export function makeFaultTable(): FaultTable {
  const entries = new Set<{ fault: Fault; target: Target; skip: number; times: number }>()
  return {
    add(fault, target = {}) {
      const entry = { fault, target, skip: target.skip ?? 0, times: target.times ?? Infinity }
      entries.add(entry)
      return () => entries.delete(entry)
    },
    clear: () => entries.clear(),
    take(request) {
      const hits = [...entries].filter((entry) => entry.times > 0 && matches(entry.target, request))
      const entry = hits.find((hit) => hit.skip-- <= 0)
      if (entry === undefined) return undefined
      entry.times--
      return entry.fault
    },
  }
}

function matches(target: Target, request: Struck): boolean {
  if (target.repository !== undefined && target.repository !== request.repository) return false
  if (target.exchange !== undefined && target.exchange !== request.exchange) return false
  return target.command === undefined || target.command === request.command
}

const PAGE =
  '<!DOCTYPE html><html><head><title>Sign in</title></head><body><form>Sign in</form></body></html>\n'

/** Answers a request instead of the backend. */
export async function answerFalsely(fault: Fault, struck: Struck, http: Http): Promise<void> {
  const { request, response } = http
  if (fault.kind !== 'drop') request.resume()
  if (fault.kind === 'status') answer(response, fault.status, fault.body ?? '', fault.headers)
  if (fault.kind === 'redirect') answer(response, fault.status ?? 302, '', { location: fault.location })
  if (fault.kind === 'echo') answer(response, fault.status, echo(request))
  if (fault.kind === 'page') answer(response, 200, PAGE, { 'content-type': 'text/html' })
  if (fault.kind === 'drop') request.socket.destroy()
  if (fault.kind === 'endless') await answerEndlessly(struck, response)
}

/** Both sides of one request. */
export interface Http {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

/** Reads the whole answer, so that the request is applied, and breaks the connection. */
export async function breakOff(
  fault: Fault & { kind: 'cut' | 'lost' },
  answer: BackendAnswer,
  response: ServerResponse,
) {
  const body = await buffer(answer.body)
  const shown = fault.kind === 'cut' ? (fault.bytes ?? Math.floor(body.length / 2)) : undefined
  if (shown !== undefined) {
    response.writeHead(answer.status, answer.headers)
    await new Promise((resolve) => response.write(body.subarray(0, shown), resolve))
  }
  response.destroy()
}

/** The answer to a fetch, with one more section in front of its pack (git's gitprotocol-v2, packfile-uris). */
export function withPackElsewhere(whole: Buffer, uri: string): Buffer {
  const at = whole.indexOf('packfile\n') - 4
  const section = [line('packfile-uris\n'), line(`${'1'.repeat(40)} ${uri}\n`), Buffer.from('0001')]
  return Buffer.concat([whole.subarray(0, at), ...section, whole.subarray(at)])
}

function answer(
  response: ServerResponse,
  status: number,
  body: string | Buffer,
  headers: Headers = {},
): void {
  response.writeHead(status, { 'content-type': 'text/plain', ...headers }).end(body)
}

function echo(request: IncomingMessage): string {
  const header = request.headers.authorization ?? ''
  return `You sent ${header} which is ${Buffer.from(header.split(' ')[1] ?? '', 'base64').toString()}\n\u001b[31mred\u001b[0m\n`
}

async function answerEndlessly(struck: Struck, response: ServerResponse): Promise<void> {
  const service = struck.exchange.replace('-refs', '')
  const kind = struck.exchange.endsWith('-refs') ? 'advertisement' : 'result'
  response.writeHead(200, { 'content-type': `application/x-git-${service}-${kind}` })
  await pipeline(Readable.from(endless(struck)), response)
}

function* endless(struck: Struck): Generator<Buffer> {
  if (struck.command === 'fetch') return yield* endlessPack()
  if (struck.exchange === 'receive-pack') for (;;) yield line(`\u0002Still counting\n`)
  if (struck.exchange !== 'upload-pack')
    yield Buffer.concat([
      line(`# service=git-${struck.exchange.replace('-refs', '')}\n`),
      Buffer.from('0000'),
    ])
  for (let number = 0; ; number += 1) yield refs(number)
}

/** A thousand refs, each with a name of its own. */
const CHUNK = Buffer.from(
  Array.from({ length: 1_000 }, (_, i) => {
    const name = String(i).padStart(3, '0')
    return `0043${randomBytes(20).toString('hex')} refs/heads/${name}-000000\n`
  }).join(''),
)
const LINE = 0x43
/** Of the number of the chunk, with the line end. */
const DIGITS = 7

/** `number` is of the chunk, and the rest of a line the same in each: a server has other work than to write numbers. */
function refs(number: number): Buffer {
  const chunk = Buffer.from(CHUNK)
  const digits = Buffer.from(String(number).padStart(6, '0'))
  for (let end = LINE; end <= chunk.length; end += LINE) digits.copy(chunk, end - DIGITS)
  return chunk
}

/** A pack of 2^20 blobs of 32 KiB of noise each (32 GiB), in side-band lines (git's gitformat-pack). */
function* endlessPack(): Generator<Buffer> {
  const blob = randomBytes(32 * 1024)
  const head = Buffer.from([0xb0, 0x80, 0x10])
  yield line('packfile\n')
  yield band(Buffer.from('5041434b0000000200100000', 'hex'))
  for (let i = 0; ; i++) {
    blob.writeUInt32LE(i)
    yield band(Buffer.concat([head, deflateSync(blob, { level: 0 })]))
  }
}

function band(bytes: Buffer): Buffer {
  return line(Buffer.concat([Buffer.from([1]), bytes]))
}

function line(content: string | Buffer): Buffer {
  const bytes = Buffer.from(content as Buffer)
  return Buffer.concat([Buffer.from((bytes.length + 4).toString(16).padStart(4, '0')), bytes])
}
