import { createHmac, timingSafeEqual, type KeyObject } from 'node:crypto'
import { canonicalJSON } from './canonical-json.ts'

/** What a stamp's signature covers: the requester and the request. */
export interface Signed {
  readonly namespace: string
  readonly kind: string
  readonly spec: unknown
  readonly requestedAt: string | undefined
  readonly requestedBy: string | undefined
  readonly requester: string | undefined
}

/** Minimum bytes of a key: the output size of SHA-256, as RFC 2104 (section 3) recommends. */
export const SHORTEST_KEY = 32

/** Makes signatures for another purpose invalid here, and these invalid elsewhere. */
const PURPOSE = 'commitlet.dev/v1 requester-signature'

/** HMAC-SHA256 (RFC 2104) over the canonical JSON, as 64 hex digits. */
export function sign(signed: Signed, key: KeyObject): string {
  return createHmac('sha256', key)
    .update(`${PURPOSE}\n${canonicalJSON(signed)}`)
    .digest('hex')
}

/** Whether the signature matches, in a time that does not reveal how much of it does. */
export function verifies(signed: Signed, signature: string | undefined, key: KeyObject): boolean {
  const expected = Buffer.from(sign(signed, key))
  const given = Buffer.from(signature ?? '')
  return given.length === expected.length && timingSafeEqual(given, expected)
}
