import type { GitObject, ObjectId } from './object.ts'

/** What is read at most, so that no pack takes more memory or time than its reader expects. */
export interface PackLimits {
  /** Bytes of the pack itself. */
  readonly packBytes: number
  readonly objects: number
  /** Bytes of one object. */
  readonly objectBytes: number
  /** Bytes of all objects and deltas together, inflated. */
  readonly totalBytes: number
  /** Deltas on deltas; Git writes at most 4095. */
  readonly deltaDepth: number
}

/** How a pack is read. */
export interface ReadPackOptions {
  readonly limits: PackLimits
  /** Answers an object that a thin pack may refer to. */
  readonly base: (id: ObjectId) => GitObject | undefined
  readonly signal: AbortSignal
}
