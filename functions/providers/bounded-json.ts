import { countParts } from '../domain/network/json-parts.ts'

/**
 * Values: the largest answer that is requested, a page of thirty pull requests of GitHub, has 17,000. Depth: answers of
 * hosts have five or six levels.
 */
const BOUNDS = { parts: 100_000, depth: 100 }

/**
 * Reads a text that may be JSON (RFC 8259). Returns its value; the text itself if it is not JSON; undefined if it nests
 * deeper than 100 levels, may have more than 100,000 values, or `mayHave` refuses as many.
 */
export function parseBounded(text: string, mayHave: (values: number) => boolean = () => true): unknown {
  const values = countParts(text, BOUNDS)
  if (values === undefined || !mayHave(values)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
