/** Replaces a part of a text. */
export interface Splice {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** A text, how its lines end, and how much may be written into it. */
export interface Lines {
  readonly text: string
  readonly newline: '\n' | '\r\n'
  /**
   * Throws where so many characters are more than a file may have. Each line of a value is indented as far as its place is, so
   * that a small value in a small file can be of gigabytes: they are counted before the text is made.
   */
  readonly requireRoom: RequireRoom
}

/** Takes characters of new text; see Lines. */
export type RequireRoom = (size: number) => void

/** The text and its line ends: those of its first line. */
export function linesOf(text: string, requireRoom: RequireRoom): Lines {
  const first = text.indexOf('\n')
  return { text, newline: first > 0 && text[first - 1] === '\r' ? '\r\n' : '\n', requireRoom }
}

/** Where the line of this place ends, before its line end. */
export function lineEnd(text: string, at: number): number {
  const found = text.indexOf('\n', at)
  if (found < 0) return text.length
  return found > at && text[found - 1] === '\r' ? found - 1 : found
}

/** Where the line of this place begins. */
export function lineStart(text: string, at: number): number {
  return at === 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1
}

/** Where the line before that of this place ends; 0 in the first line. */
export function previousLineEnd(text: string, at: number): number {
  const end = lineStart(text, at) - 1
  if (end < 0) return 0
  return text[end - 1] === '\r' ? end - 1 : end
}

/** A file may have a million of them, and each value that is set looks at them. */
const MOST_BLANK_LINES = 1_000

/**
 * Whether a literal whose lines begin with so many blanks may follow the line of this place: there is a line end, and no
 * blank line up to the next text would belong to it, because it has more blanks, or be none to every reader (a tab).
 */
export function mayEndInLiteral(text: string, at: number, indent: number): boolean {
  let end = text.indexOf('\n', at)
  if (end < 0) return false
  for (let lines = 0; end >= 0; lines += 1) {
    if (lines === MOST_BLANK_LINES) return false
    const start = end + 1
    end = text.indexOf('\n', start)
    const line = text.slice(start, lineEnd(text, start))
    if (/[^ \t]/.test(line)) return true
    if (line.length > indent || line.includes('\t')) return false
  }
  return true
}

/** The text with all splices, which do not overlap. */
export function splicedText(text: string, splices: readonly Splice[]): string {
  const pieces: string[] = []
  let at = 0
  for (const { start, end, text: piece } of splices.toSorted((a, b) => a.start - b.start)) {
    pieces.push(text.slice(at, start), piece)
    at = end
  }
  return [...pieces, text.slice(at)].join('')
}

/** Whether there is at least one character between two splices. */
export function areApart(one: Splice, other: Splice): boolean {
  return one.end < other.start || other.end < one.start
}
