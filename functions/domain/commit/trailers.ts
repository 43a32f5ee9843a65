/** Git ignores blank lines at the beginning of a message, so they do not separate the title from the trailers. */
export const LEADING_BLANKS = /^(?:[ \t\r]*\n)+/

/**
 * Whether the last paragraph of a message without a line feed at its end is a block of trailers: "A group of one or more
 * lines that is all trailers, or contains at least one Git-generated trailer and consists of at least 25% trailers",
 * preceded by a blank line and not the title: git-interpret-trailers(1).
 */
export function endsInTrailers(text: string): boolean {
  return blockAtEnd(text.split('\n')) !== undefined
}

/**
 * The values of the trailers of a whole message that are written `<key>: <value>`, in their order, as Git reads them: a
 * line of blanks ends a paragraph, and what is blank or a comment behind the block does not count. Lines that continue a
 * value belong to it, as with `unfold`.
 */
export function trailerValues(message: string, key: string): readonly string[] {
  const start = `${key}: `
  if (!message.includes(`\n${start}`)) return []
  const lines = message.replace(LEADING_BLANKS, '').split('\n')
  const end = lines.findLastIndex((line) => !isComment(line) && !isBlank(line))
  const block = blockAtEnd(lines.slice(0, end + 1)) ?? []
  const values: string[] = []
  for (const [i, line] of block.entries())
    if (line.startsWith(start)) values.push(unfolded(line.slice(start.length), block, i + 1))
  return values
}

/** The value that begins so, with the lines from `next` on that continue it. */
function unfolded(first: string, block: readonly string[], next: number): string {
  let end = next
  while (/^[ \t\r]/.test(block[end] ?? '')) end += 1
  const more = block.slice(next, end)
  return [first, ...more.map((line) => line.replace(/^[ \t\r]+/, ''))].join(' ').trim()
}

/** The lines of the last paragraph, if it is a block of trailers. */
function blockAtEnd(lines: readonly string[]): readonly string[] | undefined {
  const start = lines.findLastIndex((line) => !isComment(line) && isBlank(line))
  if (start < 0) return undefined
  const block = lines.slice(start + 1)
  const { trailers, others, generated } = tally(block)
  return (generated ? trailers * 3 >= others : trailers > 0 && others === 0) ? block : undefined
}

/** The number of lines of each kind in a paragraph, as in find_trailer_start() of Git's trailer.c. */
interface Tally {
  readonly trailers: number
  readonly others: number
  readonly generated: boolean
}

// Read from the end, because a line that begins with a blank continues the one before it.
function tally(lines: readonly string[]): Tally {
  let [trailers, others, continuations, generated] = [0, 0, 0, false]
  for (const line of lines.toReversed()) {
    if (/^[ \t\r]/.test(line)) {
      continuations += 1
      continue
    }
    const isGenerated = /^(?:Signed-off-by: |\(cherry picked from commit )/.test(line)
    const isTrailer = isGenerated || /^[A-Za-z0-9-]+[ \t]*:/.test(line)
    generated ||= isGenerated
    if (isTrailer) trailers += 1
    else others += isComment(line) ? continuations : continuations + 1
    continuations = 0
  }
  return { trailers, others: others + continuations, generated }
}

function isComment(line: string): boolean {
  return line.startsWith('#')
}

// Git's isspace() (ctype.c) knows only these and the line feed, and no white space beyond ASCII.
function isBlank(line: string): boolean {
  return /^[ \t\r]*$/.test(line)
}
