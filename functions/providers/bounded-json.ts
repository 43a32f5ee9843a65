import { countParts } from '../domain/network/json-parts.ts'

/**
 * Values: a page of thirty pull requests of GitHub's holds 17,000 and is the largest that is asked for. Depth: hosts
 * answer with five or six.
 */
const BOUNDS = { parts: 100_000, depth: 100 }

/**
 * Reads a text that may be JSON (RFC 8259): its value; the text itself where it is none; undefined where it nests
 * deeper than 100 or may hold more than 100,000 values.
 */
export function parseBounded(text: string): unknown {
  if (countParts(text, BOUNDS) === undefined) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
