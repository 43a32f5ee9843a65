import { promisify } from 'node:util'
import { deflate, deflateSync, inflate, inflateSync, type ZlibOptions } from 'node:zlib'
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

const inflateAside = promisify(inflate)
const deflateAside = promisify(deflate)

/**
 * Inflates the zlib stream at the beginning of `bytes`; more may follow it. Takes memory for `size` bytes only, and time
 * in proportion to it.
 * @throws Failure ProviderUnavailable if it is no zlib stream of exactly this size, or one that is far longer
 */
export async function inflateExactly(bytes: Buffer, size: number): Promise<Inflated> {
  // With room for one byte more, the whole object is one chunk, and one that is too long is noticed.
  const options = {
    info: true,
    maxOutputLength: Math.max(size, 1),
    chunkSize: Math.max(size + 1, LEAST_CHUNK),
  }
  const stream = bytes.subarray(0, size + Math.ceil(size / 1024) + STREAM_OVERHEAD)
  const { buffer, engine } = await run(stream, options, size)
  if (buffer.length !== size) throw brokenPack('an object has another size than it says')
  return { body: buffer, length: engine.bytesWritten }
}

/** Deflates. The result does not keep more memory than it needs, as a chunk of node:zlib would (16 KiB at least). */
export async function deflateWhole(bytes: Buffer): Promise<Buffer> {
  if (bytes.length > DEFLATED_HERE) return deflateAside(bytes)
  return deflateSync(bytes, { chunkSize: bytes.length + (bytes.length >> 3) + LEAST_CHUNK })
}

async function run(bytes: Buffer, options: ZlibOptions, size: number): Promise<WithInfo> {
  try {
    const done: unknown =
      size > INFLATED_HERE ? await inflateAside(bytes, options) : inflateSync(bytes, options)
    if (hasInfo(done)) return done
  } catch (cause) {
    throw brokenPack('an object cannot be inflated', { cause })
  }
  throw new TypeError('node:zlib gives no info')
}

/** What node:zlib answers with `info`. */
interface WithInfo {
  readonly buffer: Buffer
  readonly engine: { readonly bytesWritten: number }
}

function hasInfo(done: unknown): done is WithInfo {
  return typeof done === 'object' && done !== null && 'buffer' in done && 'engine' in done
}
