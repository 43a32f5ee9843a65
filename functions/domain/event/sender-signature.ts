import { createHmac, timingSafeEqual } from 'node:crypto'

/**
 * The extension attribute by which the function knows the events of the webhook. It gives them priority, never rights:
 * whatever an event says, the function reads the resource itself.
 */
export const SENDER_SIGNATURE = 'sendersignature'

/** What a signature covers. Extensions may be overridden on the way (K_CE_OVERRIDES), these attributes not. */
const COVERED = ['id', 'source', 'type', 'subject'] as const
/** Makes signatures for another purpose invalid here, and these invalid elsewhere. */
const PURPOSE = 'commitlet.dev/v1 sender-signature'

/** The signature of an event: HMAC-SHA256 (RFC 2104) over its attributes, as 64 hex digits. */
export function senderSignature(
  attribute: (name: (typeof COVERED)[number]) => unknown,
  key: Uint8Array,
): string {
  return createHmac('sha256', key)
    .update(`${PURPOSE}\n${JSON.stringify(COVERED.map(attribute))}`)
    .digest('hex')
}

/**
 * Whether the headers of an event in binary mode have the signature of a webhook with this key. Takes some microseconds,
 * and none for an event without one.
 */
export function isFromWebhook(headers: Readonly<Record<string, unknown>>, key: Uint8Array): boolean {
  const given = headers[`ce-${SENDER_SIGNATURE}`]
  if (typeof given !== 'string') return false
  const expected = Buffer.from(senderSignature((name) => headers[`ce-${name}`], key))
  const bytes = Buffer.from(given)
  return bytes.length === expected.length && timingSafeEqual(bytes, expected)
}
