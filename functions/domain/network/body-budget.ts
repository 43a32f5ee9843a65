/** Most bytes of request bodies that a part holds at once: with what it needs besides, below its memory limit. */
export const BODIES_LIMIT = 64 * 1024 * 1024

/** Gives back what was taken; a second call does nothing. */
export type Release = () => void

/** Shares out `most`: the answer takes so much of it, or is undefined where so much is not left. */
export function openBudget(most: number): (size: number) => Release | undefined {
  let taken = 0

  return function take(size) {
    if (taken + size > most) return undefined
    taken += size
    let given = false
    return () => {
      if (!given) taken -= size
      given = true
    }
  }
}

/**
 * Bytes of the body that a request announces (RFC 9112, section 6.3): `largest` where it names no length, 0 where there
 * is no body, or one above `largest`, which is refused by that header alone.
 */
export function announcedBytes(headers: Readonly<Record<string, unknown>>, largest: number): number {
  if (headers['transfer-encoding'] !== undefined) return largest
  const announced = Number(headers['content-length'] ?? 0)
  return announced > largest ? 0 : announced
}
