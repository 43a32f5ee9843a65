import { createHmac, timingSafeEqual } from 'node:crypto'
import { canonicalJSON } from './canonical-json.ts'

/** What a stamp's signature holds together: who asked, and for what. */
export interface Signed {
  readonly namespace: string
  readonly kind: string
  readonly spec: unknown
  readonly requestedAt: string | undefined
  readonly requestedBy: string | undefined
  readonly requester: string | undefined
}

/** Fewest bytes of a key: the output size of SHA-256, as RFC 2104 (section 3) recommends. */
export const SHORTEST_KEY = 32

/** Keeps the key from being used for, or with, texts of another making. */
const PURPOSE = 'commitlet.dev/v1 requester-signature'

/** HMAC-SHA256 (RFC 2104) over the canonical JSON, as 64 hex digits. */
export function sign(signed: Signed, key: Uint8Array): string {
  return createHmac('sha256', key)
    .update(`${PURPOSE}\n${canonicalJSON(signed)}`)
    .digest('hex')
}

/** Does the signature fit? In a time that does not tell how much of it does. */
export function verifies(signed: Signed, signature: string | undefined, key: Uint8Array): boolean {
  const expected = Buffer.from(sign(signed, key))
  const given = Buffer.from(signature ?? '')
  return given.length === expected.length && timingSafeEqual(given, expected)
}
