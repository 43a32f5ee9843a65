const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** How much of a text is read. */
export interface JSONBounds {
  readonly parts: number
  /** Lists and objects within each other; by default any number. */
  readonly depth?: number
}

/**
 * Opening brackets and commas of a JSON text (RFC 8259) outside its strings, and one: at least as many as it has
 * values. Undefined where it has more, or is nested deeper, than the bounds let through. What is parsed of it takes up
 * to 100 bytes for each (measured with V8), besides its strings: a few MiB of brackets become hundreds of MiB of
 * objects, and the whole process stands still meanwhile, so they are counted before. What is not JSON is counted as
 * far as a parser would come, or further.
 */
export function countParts(
  text: string,
  { parts: most, depth: deepest = Infinity }: JSONBounds,
): number | undefined {
  let parts = 1
  let depth = 0
  let quoted = false
  for (let at = 0; at < text.length && parts <= most && depth <= deepest; at += 1) {
    const sign = text.charCodeAt(at)
    if (sign === BACKSLASH) at += 1
    else if (sign === QUOTE) quoted = !quoted
    else if (!quoted) {
      const step = stepOf(sign)
      depth += step
      parts += step === 1 || sign === COMMA ? 1 : 0
    }
  }
  return parts > most || depth > deepest ? undefined : parts
}

/** How much deeper it is behind this sign. */
function stepOf(sign: number): -1 | 0 | 1 {
  if (sign === OPEN_LIST || sign === OPEN_OBJECT) return 1
  return sign === CLOSE_LIST || sign === CLOSE_OBJECT ? -1 : 0
}
