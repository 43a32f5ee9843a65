import { promisify } from 'node:util'
import { constants as zlib, deflate, deflateSync, inflate, inflateSync, type ZlibOptions } from 'node:zlib'
import { openFairQueue } from '../../domain/sharing/fair-queue.ts'
import { countExcess, FEW } from '../../domain/sharing/taken-time.ts'
import { brokenPack } from './pack-options.ts'

/** Bytes that come from a zlib stream. */
export interface Inflated {
  readonly body: Buffer
  /** Bytes that the stream has in the pack. */
  readonly length: number
}

/** Above this, another thread inflates: this takes some 2 ms. */
const INFLATED_HERE = 256 * 1024

/**
 * What a stream has at most besides the bytes that come of it: blocks that are stored add 5 bytes to 16 KiB or more. A
 * stream of empty blocks that fills a pack takes a second, and longer ones are for the git binary.
 */
const STREAM_OVERHEAD = 1024

/** Above this, another thread deflates: this takes some 2 ms. */
const DEFLATED_HERE = 64 * 1024

/** Z_MIN_CHUNK of node:zlib. */
const LEAST_CHUNK = 64

/** With 8, deflate writes streams that say 9 (zlib.h, deflateInit2). */
const LEAST_WINDOW_BITS = 9
/** Of a level, so many bits more are the number of letters in a block. */
const TABLE_BITS = 6

/** Bytes that another thread makes before it asks this one for more room. */
const CHUNK_BYTES = 256 * 1024

const inflateAside = promisify(inflate)
const deflateAside = promisify(deflate)

/**
 * Streams that other threads work on at once, and one more of a namespace that has none: a pod has up to 256 of these threads, which
 * wait for others most of the time, and each that works takes the processor from the one that answers.
 */
const AT_ONCE = 2
const elapsed = (): number => performance.now()
const inTurns = openFairQueue(AT_ONCE, { elapsed, taken: countExcess(FEW, elapsed), spare: true })

/** For whom a stream is: `owner` is a namespace. */
export interface StreamOf {
  readonly owner: string | undefined
  readonly signal: AbortSignal | undefined
}

const NEVER = new AbortController().signal

/**
 * Inflates the zlib stream at the beginning of `bytes`; more may follow it. Takes memory for `size` bytes only, and time
 * in proportion to it; a large one waits for its turn.
 * @throws Failure ProviderUnavailable if it is no zlib stream of exactly this size, or one that is far longer; the signal's reason
 *   where it fires before the turn
 */
export async function inflateExactly(bytes: Buffer, size: number, by: StreamOf): Promise<Inflated> {
  // With room for one byte more, the whole object is one chunk, and one that is too long is noticed.
  const options = {
    info: true,
    maxOutputLength: Math.max(size, 1),
    chunkSize: Math.max(size + 1, LEAST_CHUNK),
  }
  const stream = bytes.subarray(0, size + Math.ceil(size / 1024) + STREAM_OVERHEAD)
  const { buffer, engine } = await run(stream, options, { ...by, size })
  if (buffer.length !== size) throw brokenPack('an object has another size than it says')
  return { body: buffer, length: engine.bytesWritten }
}

/**
 * Deflates; what is large waits for its turn. A small result does not keep more memory than it needs, as a chunk of node:zlib would
 * (16 KiB at least).
 * @throws the signal's reason where it fires before the turn
 */
export async function deflateWhole(bytes: Buffer, by: StreamOf): Promise<Buffer> {
  if (bytes.length > DEFLATED_HERE) return aside(by, () => deflateAside(bytes, { chunkSize: CHUNK_BYTES }))
  return deflateSync(bytes, {
    ...windowFor(bytes),
    chunkSize: bytes.length + (bytes.length >> 3) + LEAST_CHUNK,
  })
}

/**
 * The window and the tables of deflate in sizes that make about as little of these bytes as the largest would. To set those up, 256 KiB,
 * takes longer than a small object itself.
 */
function windowFor({ length }: Buffer): ZlibOptions {
  const bits = Math.ceil(Math.log2(Math.max(length, 1)))
  return {
    windowBits: Math.min(Math.max(bits + 1, LEAST_WINDOW_BITS), zlib.Z_DEFAULT_WINDOWBITS),
    memLevel: Math.min(Math.max(bits - TABLE_BITS, zlib.Z_MIN_MEMLEVEL), zlib.Z_DEFAULT_MEMLEVEL),
  }
}

async function aside<T>({ owner = '', signal = NEVER }: StreamOf, work: () => Promise<T>): Promise<T> {
  const leave = await inTurns.enter(owner, signal)
  return work().finally(leave)
}

async function run(
  bytes: Buffer,
  options: ZlibOptions,
  { size, ...by }: StreamOf & { readonly size: number },
): Promise<WithInfo> {
  const done: unknown =
    size > INFLATED_HERE
      ? await aside(by, () => inflateAside(bytes, options).catch(notInflated))
      : inflateHere(bytes, options)
  if (hasInfo(done)) return done
  throw new TypeError('node:zlib gives no info')
}

function inflateHere(bytes: Buffer, options: ZlibOptions): unknown {
  try {
    return inflateSync(bytes, options)
  } catch (cause) {
    return notInflated(cause)
  }
}

function notInflated(cause: unknown): never {
  throw brokenPack('an object cannot be inflated', { cause })
}

/** What node:zlib answers with `info`. */
interface WithInfo {
  readonly buffer: Buffer
  readonly engine: { readonly bytesWritten: number }
}

function hasInfo(done: unknown): done is WithInfo {
  return typeof done === 'object' && done !== null && 'buffer' in done && 'engine' in done
}
