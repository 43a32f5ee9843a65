import { createHash } from 'node:crypto'

/**
 * Value of the trailer `Commitlet-Id`: `<uid>.<generation>`, and `.<first 8 hex digits of the SHA-256 of
 * requested-at>` where that is set. Equal for every attempt at the same thing, different otherwise.
 */
export function commitletId(uid: string, generation: number, requestedAt: string | undefined): string {
  const id = `${uid}.${generation}`
  if (requestedAt === undefined) return id
  return `${id}.${requestDigest(requestedAt)}`
}

/** A value of `commitlet.dev/requested-at`, which may be long, told in the first 8 hex digits of its SHA-256. */
export function requestDigest(requestedAt: string): string {
  return createHash('sha256').update(requestedAt).digest('hex').slice(0, 8)
}
