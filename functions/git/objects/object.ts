import { createHash, type Hash } from 'node:crypto'
import { Failure } from '../../domain/failure.ts'

/** Full name of an object: 40 lower-case hex digits (SHA-1). */
export type ObjectId = string

/** Bytes of an id where it is not written in hex. */
export const ID_BYTES = 20

export type ObjectKind = 'commit' | 'tree' | 'blob' | 'tag'

/** An object of Git as it is hashed, without its header; nobody changes `body`. */
export interface GitObject {
  readonly kind: ObjectKind
  readonly id: ObjectId
  readonly body: Buffer
}

/** An object for a pack. */
export interface NewObject extends GitObject {
  /** A similar object that the receiver has, or that comes earlier in the same pack: a delta against it is smaller. */
  readonly deltaBase?: GitObject
}

/** Names an object by its content. Holds the event loop for about 1 ms for each MiB. */
export function makeObject(kind: ObjectKind, body: Buffer): GitObject {
  return { kind, id: startHash(kind, body.length).update(body).digest('hex'), body }
}

/** The hash of an object up to its body: the kind, the length in bytes and a NUL come first. */
export function startHash(kind: ObjectKind, length: number): Hash {
  return createHash('sha1').update(`${kind} ${length}\0`)
}

/**
 * An object whose content breaks the rules of Git: nothing can be built on it until somebody has fixed the branch. `what` completes the
 * sentence.
 */
export function brokenObject(what: string): Failure {
  const message = `The repository has a broken object at the tip of the branch: ${what}; run \`git fsck\` there and fix it; Commitlet retries automatically.`
  return new Failure('NotSupported', message, { retry: 'transient' })
}
