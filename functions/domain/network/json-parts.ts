const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** Limits for a text. */
export interface JSONBounds {
  readonly parts: number
  /** Lists and objects within each other; by default any number. */
  readonly depth?: number
  /** Values of one list, or members of one object; by default any number. */
  readonly width?: number
}

/**
 * One more than the number of opening brackets and commas of a JSON text (RFC 8259) outside its strings: at least as
 * many as it has values. Undefined if it has more, or is nested deeper or is wider, than the bounds allow. Parsed, each takes up to
 * 100 bytes (measured with V8) in addition to its strings: a few MiB of brackets become hundreds of MiB of objects and
 * block the whole process, so they are counted before. A text that is not JSON is counted at least as far as a parser
 * would read it.
 */
export function countParts(
  text: string,
  { parts: most, depth: deepest = Infinity, width: widest = Infinity }: JSONBounds,
): number | undefined {
  let parts = 1
  let depth = 0
  let width = 1
  // Of the lists and objects around.
  const widths: number[] = []
  for (let at = 0; at < text.length && parts <= most && depth <= deepest && width <= widest; at += 1) {
    const sign = text.charCodeAt(at)
    if (sign === BACKSLASH) at += 1
    else if (sign === QUOTE) at = endOfString(text, at)
    else if (sign === COMMA) {
      parts += 1
      width += 1
    } else {
      const step = stepOf(sign)
      depth += step
      if (step === 1) {
        parts += 1
        widths.push(width)
        width = 1
      } else if (step === -1) width = widths.pop() ?? 1
    }
  }
  return parts > most || depth > deepest || width > widest ? undefined : parts
}

/** Where the string that begins here ends; the end of the text if it does not. */
export function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let before = end - 1
    while (text.charCodeAt(before) === BACKSLASH) before -= 1
    // Backslashes escape each other in pairs; the opening quote ends their row.
    if ((end - before) % 2 === 1) return end
  }
  return text.length
}

/** The change of the nesting depth after this character. */
function stepOf(sign: number): -1 | 0 | 1 {
  if (sign === OPEN_LIST || sign === OPEN_OBJECT) return 1
  return sign === CLOSE_LIST || sign === CLOSE_OBJECT ? -1 : 0
}
