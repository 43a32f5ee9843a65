import type { GitObject } from './object.ts'
import type { ReadPackOptions } from './pack-limits.ts'

/** Reads a pack; see readPack. */
export type ReadPack = (
  bytes: AsyncIterable<Buffer> | Buffer,
  options: ReadPackOptions,
) => Promise<readonly GitObject[]>
