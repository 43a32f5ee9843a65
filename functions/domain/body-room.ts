/** Most bytes of request bodies that a part holds at once: with what it needs besides, below its memory limit. */
export const BODIES_LIMIT = 64 * 1024 * 1024

/** Gives back what was taken; a second call does nothing. */
export type GiveBack = () => void

/**
 * Shares out room of `most` bytes among the request bodies of a part; one body has at most `largest`. The answer takes
 * room for a request by its headers, before a byte of its body is read: as much as it announces (RFC 9112, section
 * 6.3), for `largest` where it announces no length, none where the body is too large to be read at all. It answers
 * undefined where there is no room left.
 */
export function bodyRoom(
  most: number,
  largest: number,
): (headers: Readonly<Record<string, unknown>>) => GiveBack | undefined {
  let taken = 0

  return function take(headers) {
    const size = sizeOf(headers, largest)
    if (taken + size > most) return undefined
    taken += size
    let given = false
    return () => {
      if (!given) taken -= size
      given = true
    }
  }
}

function sizeOf(headers: Readonly<Record<string, unknown>>, largest: number): number {
  if (headers['transfer-encoding'] !== undefined) return largest
  const announced = Number(headers['content-length'] ?? 0)
  // Refused by that header alone.
  return announced > largest ? 0 : announced
}
