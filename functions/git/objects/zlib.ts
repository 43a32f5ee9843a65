import { promisify } from 'node:util'
import { inflate, inflateSync, type ZlibOptions } from 'node:zlib'
import { brokenPack } from './pack-options.ts'

/** Bytes that come from a zlib stream. */
export interface Inflated {
  readonly body: Buffer
  /** Bytes that the stream has in the pack. */
  readonly length: number
}

/** Above this, another thread inflates: this takes some 2 ms. */
const SYNC_BYTES = 256 * 1024

/** Z_MIN_CHUNK of node:zlib. */
const LEAST_CHUNK = 64

const inflateAside = promisify(inflate)

/**
 * Inflates the zlib stream at the beginning of `bytes`; more may follow it. Takes memory for `size` bytes only.
 * @throws Failure ProviderUnavailable if it is no zlib stream of exactly this size
 */
export async function inflateExactly(bytes: Buffer, size: number): Promise<Inflated> {
  // With room for one byte more, the whole object is one chunk, and one that is too long is noticed.
  const options = {
    info: true,
    maxOutputLength: Math.max(size, 1),
    chunkSize: Math.max(size + 1, LEAST_CHUNK),
  }
  const { buffer, engine } = await run(bytes, options, size)
  if (buffer.length !== size) throw brokenPack('an object has another size than it says')
  return { body: buffer, length: engine.bytesWritten }
}

async function run(bytes: Buffer, options: ZlibOptions, size: number): Promise<WithInfo> {
  try {
    const done: unknown = size > SYNC_BYTES ? await inflateAside(bytes, options) : inflateSync(bytes, options)
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
