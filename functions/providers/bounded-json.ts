/** A page of thirty pull requests of GitHub's holds 17,000 and is the largest that is asked for. */
const MOST_VALUES = 100_000
/** Hosts answer with five or six. */
const DEEPEST = 100

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/**
 * Reads a text that may be JSON (RFC 8259): its value; the text itself where it is none; undefined where it nests
 * deeper than 100 or may hold more than 100,000 values. A few MiB of brackets become hundreds of MiB of objects, and
 * the whole process stands still meanwhile: they are counted before.
 */
export function parseBounded(text: string): unknown {
  if (isTooMuch(text)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function isTooMuch(text: string): boolean {
  let values = 1
  let depth = 0
  let quoted = false
  for (let at = 0; at < text.length && values <= MOST_VALUES && depth <= DEEPEST; at += 1) {
    const sign = text.charCodeAt(at)
    if (sign === BACKSLASH) at += 1
    else if (sign === QUOTE) quoted = !quoted
    else if (!quoted) {
      const step = stepOf(sign)
      depth += step
      values += step === 1 || sign === COMMA ? 1 : 0
    }
  }
  return values > MOST_VALUES || depth > DEEPEST
}

/** How much deeper it is behind this sign. */
function stepOf(sign: number): -1 | 0 | 1 {
  if (sign === OPEN_LIST || sign === OPEN_OBJECT) return 1
  return sign === CLOSE_LIST || sign === CLOSE_OBJECT ? -1 : 0
}
