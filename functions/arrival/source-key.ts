import { createHash, timingSafeEqual, type KeyObject } from 'node:crypto'

/**
 * The extension attribute by which the function knows the operator's own sources of events: its value is the source key.
 * It gives their events room of their own, never rights: whatever an event says, the function reads the resource itself.
 */
export const SOURCE_KEY = 'sourcekey'

/** Makes the digest invalid for any other purpose. */
const PURPOSE = 'commitlet.dev/v1 source-key\n'
const BEARER = /^bearer +(\S+)$/i

/**
 * The source key of a stamp key, as 64 hex digits. It tells nothing of the stamp key: SHA-256 over a purpose and 32 random bytes or
 * more. Not an HMAC, because manifests/setup/source-key.sh makes it as well, and openssl takes the key of an HMAC as an argument only.
 */
export function sourceKeyOf(stampKey: KeyObject): string {
  return createHash('sha256').update(PURPOSE).update(stampKey.export()).digest('hex')
}

/**
 * Makes the check whether the headers of a request have the source key of one of these stamp keys: as the extension attribute of an
 * event in binary mode, or as the bearer token of the API server's audit webhook (RFC 6750, 2.1), which cannot send anything else.
 */
export function knowSources(
  stampKeys: readonly KeyObject[],
): (headers: Readonly<Record<string, unknown>>) => boolean {
  const known = stampKeys.map((key) => Buffer.from(sourceKeyOf(key)))
  return (headers) => {
    const given =
      textOf(headers[`ce-${SOURCE_KEY}`]) ?? BEARER.exec(textOf(headers['authorization']) ?? '')?.[1]
    const bytes = Buffer.from(given ?? '')
    return known.some((key) => key.length === bytes.length && timingSafeEqual(key, bytes))
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
