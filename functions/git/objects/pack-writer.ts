import type { NewObject } from './object.ts'

/** Writes a pack; see writePack. */
export type WritePack = (objects: readonly NewObject[], signal?: AbortSignal) => Promise<Buffer>
