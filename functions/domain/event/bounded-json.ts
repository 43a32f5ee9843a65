import { Failure } from '../failure.ts'
import { countParts } from '../network/json-parts.ts'

/** An event with a whole object has some thousands. Parsing ten times as many would block the process for 0.4 s. */
const MOST_PARTS = 100_000
const DEEPEST = 1_000

/** A JSON value, and how many parts its text has (json-parts.ts). */
export interface Counted {
  readonly value: unknown
  readonly parts: number
}

/**
 * Parses JSON that a stranger has sent; `what` names it in the message. Throws InvalidSpec for anything else, and for more
 * than 100,000 values or 1,000 levels.
 */
export function parseJSON(body: string | Uint8Array, what: string): unknown {
  const counted = parseCounted(body, what, MOST_PARTS)
  if (counted !== undefined) return counted.value
  throw new Failure('InvalidSpec', `${what} has more than 100,000 values, or more than 1,000 levels.`)
}

/** The same with another bound: undefined for a text that has more parts, or more than 1,000 levels. */
export function parseCounted(
  body: string | Uint8Array,
  what: string,
  most = MOST_PARTS,
): Counted | undefined {
  try {
    // JSON is UTF-8 (RFC 8259, section 8.1).
    const text = typeof body === 'string' ? body : new TextDecoder('utf-8', { fatal: true }).decode(body)
    const parts = countParts(text, { parts: most, depth: DEEPEST })
    return parts === undefined ? undefined : { value: JSON.parse(text), parts }
  } catch (cause) {
    throw new Failure('InvalidSpec', `${what} is not JSON, or was cut on its way.`, { cause })
  }
}
