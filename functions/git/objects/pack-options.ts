import { Failure, type FailureOptions } from '../../domain/failure.ts'
import type { GitObject, ObjectId } from './object.ts'

/** What is read at most, so that no pack takes more memory or time than its reader expects. */
export interface PackLimits {
  /** Bytes of the pack itself. */
  readonly packBytes: number
  readonly objects: number
  /** Bytes of one object, or of one delta. */
  readonly objectBytes: number
  /** Bytes of all objects and deltas together, inflated. */
  readonly totalBytes: number
  /** Length of a chain of deltas; Git writes at most 4095. */
  readonly deltaDepth: number
}

/** How a pack is read. */
export interface ReadPackOptions {
  readonly limits: PackLimits
  /** Answers an object that a thin pack may refer to. */
  readonly base: (id: ObjectId) => GitObject | undefined
  /** Told of each declared size before memory is taken for it; throws where there is too little. */
  readonly take?: (bytes: number) => void
  readonly signal: AbortSignal
  /** The namespace that it is read for: see createPace. */
  readonly owner?: string
}

/** Checks a declared size, before memory is taken for it. Throws a Failure if it exceeds what is left, and what `take` throws. */
export type Budget = (bytes: number) => void

/** The budget of one pack. */
export function createBudget(
  { objectBytes, totalBytes }: PackLimits,
  take: (bytes: number) => void = () => undefined,
): Budget {
  let left = totalBytes
  return (bytes) => {
    if (bytes > objectBytes) throw packTooLarge(`it has an object of more than ${objectBytes} bytes`)
    left -= bytes
    if (left < 0) throw packTooLarge(`its objects have more than ${totalBytes} bytes`)
    take(bytes)
  }
}

/** Bytes of a server that are no valid pack; a later answer may be whole. `what` completes the sentence. */
export function brokenPack(what: string, options: FailureOptions = {}): Failure {
  return new Failure('ProviderUnavailable', `The server sent a pack that cannot be read: ${what}.`, options)
}

/** A pack beyond a limit of its reader; the git binary may be able to read it. `what` completes the sentence. */
export function packTooLarge(what: string): Failure {
  return new Failure('NotSupported', `The server sent a pack that is too large to be read: ${what}.`)
}
