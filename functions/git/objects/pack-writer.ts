import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { deflate, deflateSync } from 'node:zlib'
import type { NewObject, ObjectId } from './object.ts'
import { createPace, updateHash } from './pace.ts'
import { MAGIC, REF_DELTA, TYPES } from './pack-format.ts'
import { writeDelta } from './write-delta.ts'

/** The longest chain of deltas, as in `pack.depth` of Git. */
const DELTA_DEPTH = 50

/** Above this, another thread deflates: this takes some 2 ms. */
const SYNC_BYTES = 64 * 1024

/** A delta that is not this much smaller than its object is not worth the work of its reader. */
const WORTHWHILE = 0.5

/** Deflating takes this much longer than inflating. */
const DEFLATE_WORK = 4

const deflateAside = promisify(deflate)

/**
 * Writes a pack (gitformat-pack(5), version 2) of the objects, each once. An object with a `deltaBase` may become a
 * delta; the pack is thin if that base is not in it. No step holds the event loop for more than some 10 ms.
 * @throws the signal's reason once it has fired
 */
export async function writePack(objects: readonly NewObject[], signal?: AbortSignal): Promise<Buffer> {
  const pace = createPace(signal)
  const unique = new Map(objects.map((object) => [object.id, object]))
  const count = Buffer.alloc(4)
  count.writeUInt32BE(unique.size)
  const parts: Buffer[] = [MAGIC, count]
  const depths = new Map<ObjectId, number>()
  for (const object of unique.values()) {
    const { header, data, depth } = encode(object, (id) => depths.get(id) ?? (unique.has(id) ? Infinity : 0))
    depths.set(object.id, depth)
    parts.push(header, data.length > SYNC_BYTES ? await deflateAside(data) : deflateSync(data))
    await pace(data.length * DEFLATE_WORK)
  }
  const bytes = Buffer.concat(parts)
  const hash = createHash('sha1')
  await updateHash(hash, bytes, pace)
  return Buffer.concat([bytes, hash.digest()])
}

/** An object as it stands in the pack, but not yet deflated. */
interface Encoded {
  readonly header: Buffer
  readonly data: Buffer
  /** Deltas from a whole object to this one. */
  readonly depth: number
}

// An object that comes later in the pack is infinitely deep: two deltas of each other would be a circle.
function encode({ kind, body, deltaBase }: NewObject, depthOf: (id: ObjectId) => number): Encoded {
  const whole = { header: headerOf(TYPES[kind], body.length), data: body, depth: 0 }
  if (deltaBase === undefined) return whole
  const depth = depthOf(deltaBase.id) + 1
  if (depth > DELTA_DEPTH) return whole
  const delta = writeDelta(deltaBase.body, body)
  if (delta.length > body.length * WORTHWHILE) return whole
  const header = Buffer.concat([headerOf(REF_DELTA, delta.length), Buffer.from(deltaBase.id, 'hex')])
  return { header, data: delta, depth }
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
