/** Maximum bytes of request bodies in memory at once, which leaves enough of the memory limit for everything else. */
export const BODIES_LIMIT = 64 * 1024 * 1024

/** Returns the bytes to the budget; a second call does nothing. */
export type Release = () => void

/** A budget of `most` bytes: the result takes `size` of them, or returns undefined if fewer are left. */
export function openBudget(most: number): (size: number) => Release | undefined {
  let taken = 0

  return function take(size) {
    if (taken + size > most) return undefined
    taken += size
    let released = false
    return () => {
      if (!released) taken -= size
      released = true
    }
  }
}

/**
 * Bytes of the body that a request announces (RFC 9112, section 6.3): `largest` if it announces no length, 0 if there is
 * no body, or if the length is above `largest`, because such a request is refused by that header alone.
 */
export function announcedBytes(headers: Readonly<Record<string, unknown>>, largest: number): number {
  if (headers['transfer-encoding'] !== undefined) return largest
  const announced = Number(headers['content-length'] ?? 0)
  return announced > largest ? 0 : announced
}
