import { createHash } from 'node:crypto'
import type { NewObject, ObjectId } from './object.ts'
import { createPace, updateHash } from './pace.ts'
import { HEADER_BYTES, MAGIC, REF_DELTA, TYPES } from './pack-format.ts'
import { writeDelta } from './write-delta.ts'
import { deflateWhole } from './zlib.ts'

/** A pack (gitformat-pack(5), version 2) that is being written. */
export interface PackWriter {
  /**
   * Writes an object, unless it is in the pack already, and keeps nothing of it but its deflated bytes. With a
   * `deltaBase` it may become a delta; the pack is thin if that base is not in it.
   * @throws the signal's reason once it has fired; what `reserve` throws
   */
  add(object: NewObject): Promise<void>
  /** Ends the pack, and returns its bytes in their order. */
  finish(): Promise<readonly Buffer[]>
}

/** Told of the bytes of memory that are taken next. Throws if they are not there. */
export type Reserve = (bytes: number) => void

/** The longest chain of deltas, as in `pack.depth` of Git. */
const DELTA_DEPTH = 50

/** A delta that is not this much smaller than its object is not worth the work of its reader. */
const WORTHWHILE = 0.5

/** Deflating takes this much longer than inflating. */
const DEFLATE_WORK = 4

/** Bytes of the pack that are taken at once. */
const CHUNK_BYTES = 64 * 1024

/**
 * Begins a pack. `reserve` is asked before the pack takes more memory. No step holds the event loop for more than some
 * 10 ms. `owner`: the namespace that it is for; see createPace.
 */
export function startPack(
  signal?: AbortSignal,
  reserve: Reserve = () => undefined,
  owner?: string,
): PackWriter {
  const pace = createPace(signal, owner)
  const bytes = openChunks(reserve)
  const depths = new Map<ObjectId, number>()
  const outside = new Set<ObjectId>()
  bytes.append(Buffer.concat([MAGIC, Buffer.alloc(HEADER_BYTES - MAGIC.length)]))

  // What was a base before it came is written as it is: two deltas of each other would be a circle.
  function encode({ kind, id, body, deltaBase }: NewObject): Encoded {
    const whole = { header: headerOf(TYPES[kind], body.length), data: body, depth: 0 }
    if (deltaBase === undefined || outside.has(id)) return whole
    const depth = (depths.get(deltaBase.id) ?? 0) + 1
    if (depth > DELTA_DEPTH) return whole
    const delta = writeDelta(deltaBase.body, body)
    if (delta.length > body.length * WORTHWHILE) return whole
    if (!depths.has(deltaBase.id)) outside.add(deltaBase.id)
    const header = Buffer.concat([headerOf(REF_DELTA, delta.length), Buffer.from(deltaBase.id, 'hex')])
    return { header, data: delta, depth }
  }

  return {
    async add(object) {
      if (depths.has(object.id)) return
      const { header, data, depth } = encode(object)
      depths.set(object.id, depth)
      bytes.append(header)
      bytes.append(await deflateWhole(data, { owner, signal }))
      await pace(object.body.length + data.length * DEFLATE_WORK)
    },
    async finish() {
      bytes.chunks()[0]?.writeUInt32BE(depths.size, MAGIC.length)
      const hash = createHash('sha1')
      for (const chunk of bytes.chunks()) await updateHash(hash, chunk, pace)
      bytes.append(hash.digest())
      return bytes.chunks()
    },
  }
}

/** An object as it stands in the pack, but not yet deflated. */
interface Encoded {
  readonly header: Buffer
  readonly data: Buffer
  /** Deltas from a whole object to this one. */
  readonly depth: number
}

// The type and four bits of the size, then little-endian groups of seven; the last byte is without the high bit.
function headerOf(type: number, size: number): Buffer {
  const bytes: number[] = []
  let byte = (type << 4) | (size & 0x0f)
  for (let left = Math.floor(size / 16); left > 0; left = Math.floor(left / 0x80)) {
    bytes.push(byte | 0x80)
    byte = left % 0x80
  }
  return Buffer.from([...bytes, byte])
}

/** Bytes in chunks of one size: objects of a few bytes would each keep a buffer of their own. */
function openChunks(reserve: Reserve) {
  const full: Buffer[] = []
  let last = Buffer.alloc(0)
  let used = 0
  return {
    append(bytes: Buffer): void {
      for (let at = 0; at < bytes.length;) {
        if (used === last.length) {
          reserve(CHUNK_BYTES)
          last = Buffer.allocUnsafeSlow(CHUNK_BYTES)
          full.push(last)
          used = 0
        }
        const copied = bytes.copy(last, used, at)
        used += copied
        at += copied
      }
    },
    chunks: (): readonly Buffer[] => [...full.slice(0, -1), last.subarray(0, used)],
  }
}
