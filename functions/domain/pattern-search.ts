/** A text that is searched for. */
export type Pattern = string

/** Patterns by the hash of their first characters, of which all have equally many. */
interface Table {
  readonly prefix: number
  readonly patterns: readonly Pattern[]
  /** For each slot, one more than the first pattern in it; 0: none. */
  readonly heads: Int32Array
  /** For each pattern, one more than the next in its slot. */
  readonly next: Int32Array
}

/** Many patterns, ready to be searched for at once. */
export type PatternIndex = readonly Table[]

/** What searches may still cost, in units of about 8 ns. Less than 0: a search has been given up. */
export interface Budget {
  left: number
}

export interface Search {
  readonly text: string
  /** If the text goes on: so many of its characters are read right. A pattern that goes beyond them is found as well. */
  readonly cutAt?: number
  readonly budget: Budget
  /** An occurrence. Of one that goes beyond `cutAt`, `end` is the end of the text. */
  readonly found: (start: number, end: number) => void
}

/** The longest prefix by which patterns are told apart; shorter patterns are told by fewer characters. */
export const LONGEST_PREFIX = 8
const BASE = 0x01_00_01_93
const HASHED_PER_UNIT = 4
const COMPARED_PER_UNIT = 16
const COMPARISON = 5

/** Makes an index of distinct patterns that are not empty. Takes time in proportion to their number, not their length. */
export function indexOf(patterns: readonly Pattern[]): PatternIndex {
  const byPrefix = new Map<number, Pattern[]>()
  for (const pattern of patterns) {
    const prefix = pattern.length < LONGEST_PREFIX ? Math.min(pattern.length, 4) : LONGEST_PREFIX
    const same = byPrefix.get(prefix)
    if (same === undefined) byPrefix.set(prefix, [pattern])
    else same.push(pattern)
  }
  return [...byPrefix].map(([prefix, same]) => tableOf(prefix, same))
}

/**
 * Finds every occurrence of every pattern (Rabin and Karp's algorithm, with one hash for all patterns), in time in proportion
 * to the text and to what is found. Where many patterns begin alike, and the text nearly repeats them, it would take
 * far longer, so that it stops when the budget is used up.
 */
export function search(index: PatternIndex, wanted: Search): void {
  for (const table of index) searchTable(table, wanted)
}

function tableOf(prefix: number, patterns: readonly Pattern[]): Table {
  const heads = new Int32Array(slotsFor(patterns.length))
  const next = new Int32Array(patterns.length)
  patterns.forEach((pattern, at) => {
    const slot = slotOf(hashOf(pattern, prefix), heads.length)
    next[at] = heads[slot] ?? 0
    heads[slot] = at + 1
  })
  return { prefix, patterns, heads, next }
}

function searchTable(table: Table, wanted: Search): void {
  const { prefix, heads } = table
  const { text, budget } = wanted
  const last = (wanted.cutAt ?? text.length) - prefix
  if (last < 0) return
  let dropped = 1
  for (let factor = 1; factor < prefix; factor += 1) dropped = Math.imul(dropped, BASE)
  budget.left -= last / HASHED_PER_UNIT
  let hash = hashOf(text, prefix)
  for (let start = 0; start <= last && budget.left >= 0; start += 1) {
    const entry = heads[slotOf(hash, heads.length)] ?? 0
    // Nothing after one that is cut is shown.
    if (entry > 0 && findAt(table, wanted, { start, entry }) === 'cut') return
    const gone = Math.imul(text.charCodeAt(start), dropped)
    hash = (Math.imul(hash - gone, BASE) + text.charCodeAt(start + prefix)) | 0
  }
}

/** Compares the text at `start` with the patterns of a slot, the first of which is `entry`. */
function findAt(
  { patterns, next }: Table,
  { text, cutAt, budget, found }: Search,
  at: { readonly start: number; readonly entry: number },
): 'cut' | undefined {
  const { start } = at
  const known = cutAt ?? text.length
  for (let { entry } = at; entry > 0; entry = next[entry - 1] ?? 0) {
    const pattern = patterns[entry - 1] ?? ''
    const end = start + pattern.length
    budget.left -= 1
    if (end > known && cutAt === undefined) continue
    if (!isAt(text, pattern, { start, end: Math.min(end, known), budget })) continue
    found(start, end > known ? text.length : end)
    if (end > known) return 'cut'
  }
  return undefined
}

/** Whether the text has the pattern from `start` to `end`, or its beginning if that is shorter. */
function isAt(
  text: string,
  pattern: Pattern,
  { start, end, budget }: { readonly start: number; readonly end: number; readonly budget: Budget },
): boolean {
  const length = end - start
  // Two characters tell most patterns apart that begin alike.
  if (text.charCodeAt(end - 1) !== pattern.charCodeAt(length - 1)) return false
  if (text.charCodeAt(start + (length >> 1)) !== pattern.charCodeAt(length >> 1)) return false
  budget.left -= COMPARISON + length / COMPARED_PER_UNIT
  return length === pattern.length
    ? text.startsWith(pattern, start)
    : pattern.startsWith(text.slice(start, end))
}

function hashOf(text: string, length: number): number {
  let hash = 0
  for (let at = 0; at < length; at += 1) hash = (Math.imul(hash, BASE) + text.charCodeAt(at)) | 0
  return hash
}

/** The upper bits, which all characters have changed. */
function slotOf(hash: number, slots: number): number {
  return Math.imul(hash, 0x9e_37_79_b1) >>> (Math.clz32(slots) + 1)
}

/** A power of two, so that of twice as many slots as patterns at least half are free. */
function slotsFor(count: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(2, 2 * count)))
}
