import { createHash } from 'node:crypto'

/** The trailer that tells which request a commit is for. */
export const COMMIT_ID_TRAILER = 'Commitlet-Id'

/**
 * Value of the trailer `Commitlet-Id`: `<uid>.<generation>`, and `.<first 8 hex digits of the SHA-256 of
 * requested-at>` if that is set. Equal for every attempt at the same request, different otherwise.
 */
export function commitletId(uid: string, generation: number, requestedAt: string | undefined): string {
  const id = `${uid}.${generation}`
  if (requestedAt === undefined) return id
  return `${id}.${requestDigest(requestedAt)}`
}

/** Whether this `Commitlet-Id` is that of a requested-at. */
export function wasRequested(id: string): boolean {
  return id.split('.').length > 2
}

/** The first 8 hex digits of the SHA-256 of a value of `commitlet.dev/requested-at`, which may be long. */
export function requestDigest(requestedAt: string): string {
  return createHash('sha256').update(requestedAt).digest('hex').slice(0, 8)
}
