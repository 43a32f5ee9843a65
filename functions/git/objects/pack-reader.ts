import { createHash } from 'node:crypto'
import type { GitObject } from './object.ts'
import { createPace, updateHash, type Pace } from './pace.ts'
import { readEntriesOf } from './pack-entries.ts'
import { HEADER_BYTES, MAGIC, TRAILER_BYTES } from './pack-format.ts'
import {
  brokenPack,
  createBudget,
  packTooLarge,
  type PackLimits,
  type ReadPackOptions,
} from './pack-options.ts'
import { resolveDeltas } from './resolve-deltas.ts'

/**
 * Reads a pack (gitformat-pack(5), version 2), with deltas against objects in it or known to `base`. Returns its
 * objects in their order. No declared size takes memory before it is compared with the limits, and no step holds the
 * event loop for more than some 10 ms.
 * @throws Failure ProviderUnavailable for anything that is not exactly a pack; NotSupported beyond a limit; the
 *   signal's reason once it has fired; what `bytes` and `take` throw
 */
export async function readPack(
  bytes: AsyncIterable<Buffer> | Buffer,
  { limits, base, take, signal, owner }: ReadPackOptions,
): Promise<readonly GitObject[]> {
  const pace = createPace(signal, owner)
  const pack = await collect(bytes, limits)
  if (!pack.subarray(0, MAGIC.length).equals(MAGIC))
    throw brokenPack('it does not begin as a pack of version 2')
  if (pack.length < HEADER_BYTES + TRAILER_BYTES) throw brokenPack('it ends too early')
  await checkTrailer(pack, pace)
  const count = declaredCount(pack)
  if (count > limits.objects) throw packTooLarge(`it has ${count} objects, and ${limits.objects} are read`)
  const budget = createBudget(limits, take)
  const terms = { budget, pace, owner, signal }
  const entries = await readEntriesOf(pack.subarray(0, -TRAILER_BYTES), count, terms)
  return resolveDeltas(entries, { limits, base, budget, pace })
}

/** How many objects a pack says that it has; 0 if it is too short to say it. */
export function declaredCount(pack: Buffer): number {
  return pack.length < HEADER_BYTES ? 0 : pack.readUInt32BE(MAGIC.length)
}

async function collect(bytes: AsyncIterable<Buffer> | Buffer, { packBytes }: PackLimits): Promise<Buffer> {
  const parts: Buffer[] = []
  let length = 0
  for await (const part of Buffer.isBuffer(bytes) ? [bytes] : bytes) {
    length += part.length
    if (length > packBytes) throw packTooLarge(`it has more than ${packBytes} bytes`)
    parts.push(part)
  }
  return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts)
}

async function checkTrailer(pack: Buffer, pace: Pace): Promise<void> {
  const hash = createHash('sha1')
  await updateHash(hash, pack.subarray(0, -TRAILER_BYTES), pace)
  if (!hash.digest().equals(pack.subarray(-TRAILER_BYTES)))
    throw brokenPack('its checksum is not that of its bytes')
}
