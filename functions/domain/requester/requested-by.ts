import { createHash } from 'node:crypto'
import type { Requester } from './requester.ts'

/** REQUESTED_BY_TRAILER: how a commit tells who asked for it. The first is the default. */
export const REQUESTED_BY_TRAILERS = ['name', 'hash', 'off'] as const
export type RequestedByTrailer = (typeof REQUESTED_BY_TRAILERS)[number]

/**
 * Value of the trailer `Requested-by`: the name as people are shown it; or `sha256:` and the first 16 hex digits of
 * the SHA-256 of the user name, by which whoever knows the name finds the commits; or none.
 */
export function requestedBy(requester: Requester, trailer: RequestedByTrailer): string | undefined {
  if (trailer === 'name') return requester.shown
  if (trailer === 'off') return undefined
  return `sha256:${createHash('sha256').update(requester.username).digest('hex').slice(0, 16)}`
}
