import { countParts } from '../domain/network/json-parts.ts'

/**
 * Values: the largest answer that is requested, a page of thirty pull requests of GitHub, has 17,000. Depth: answers of
 * hosts have five or six levels. Width: a page has 50 entries, and a pull request a hundred labels or so. What is read of an answer,
 * such as the names of its reviewers, is read outside of any share.
 */
const BOUNDS = { parts: 100_000, depth: 100, width: 1_000 }

/**
 * Reads a text that may be JSON (RFC 8259). Returns its value; the text itself if it is not JSON; undefined if it nests
 * deeper than 100 levels, may have more than 100,000 values, or more than 1,000 in one list or object, or `mayHave` refuses as many.
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
