import { createHash } from 'node:crypto'

/** The trailer that tells which request a commit is for. */
export const COMMIT_ID_TRAILER = 'Commitlet-Id'

/** What a commit is for. */
export interface CommitCause {
  /** Of the resource. */
  readonly uid: string
  readonly generation: number
  /** Value of `commitlet.dev/requested-at`, if it is set. */
  readonly requestedAt: string | undefined
  /** Digest of the sources of a follower, 16 hex digits; see source-digest.ts. */
  readonly sources?: string | undefined
}

/**
 * Value of the trailer `Commitlet-Id`: `<uid>.<generation>`, and `.<first 8 hex digits of the SHA-256 of
 * requested-at>` if that is set, and of a follower `.<digest of its sources>`. Equal for every attempt at the same request
 * and the same sources, different otherwise, except that a value of requested-at may come back at the same generation: the
 * seals tell these requests apart.
 */
export function commitletId({ uid, generation, requestedAt, sources }: CommitCause): string {
  const request = requestedAt === undefined ? [] : [requestDigest(requestedAt)]
  return [uid, generation, ...request, ...(sources === undefined ? [] : [sources])].join('.')
}

/** The first 8 hex digits of the SHA-256 of a value of `commitlet.dev/requested-at`, which may be long. */
export function requestDigest(requestedAt: string): string {
  return createHash('sha256').update(requestedAt).digest('hex').slice(0, 8)
}
