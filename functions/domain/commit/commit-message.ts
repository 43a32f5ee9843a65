import { COMMIT_ID_TRAILER, commitletId, type CommitCause } from './commit-id.ts'

/** The parts of a commit message. */
export interface MessageParts extends CommitCause {
  /** The user's own text. */
  readonly message: string
  readonly namespace: string
  readonly name: string
  /** The Kubernetes user who applied it; undefined: there is no such trailer. */
  readonly requestedBy: string | undefined
}

// Git ignores blank lines at the beginning of a message, so they do not separate the title from the trailers.
const LEADING_BLANKS = /^(?:[ \t]*\n)+/

/**
 * The whole commit message: the user's text with LF line ends and without blank lines at its ends, then the
 * trailers, which join its own trailer block if its last paragraph is one. Ends with a line feed. Git finds the
 * trailers below any text that the rules for a message allow.
 */
export function commitMessage(parts: MessageParts): string {
  const text = parts.message.replace(/\r\n?/g, '\n').trimEnd().replace(LEADING_BLANKS, '')
  const trailers = [
    `Commitlet-Resource: ${parts.namespace}/${parts.name}`,
    `${COMMIT_ID_TRAILER}: ${commitletId(parts)}`,
    ...requestedBy(parts.requestedBy),
  ]
  return `${text}\n${endsInTrailers(text) ? '' : '\n'}${trailers.join('\n')}\n`
}

// A line end in a user name could forge a trailer.
function requestedBy(user: string | undefined): readonly string[] {
  const name = user?.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/gu, '?').trim() ?? ''
  return name === '' ? [] : [`Requested-by: ${name}`]
}

/** The number of lines of each kind in a paragraph, as in find_trailer_start() of Git's trailer.c. */
interface Tally {
  readonly trailers: number
  readonly others: number
  readonly generated: boolean
}

/**
 * Whether the last paragraph of a message without a line feed at its end is a block of trailers: "A group of one or more
 * lines that is all trailers, or contains at least one Git-generated trailer and consists of at least 25% trailers",
 * preceded by a blank line and not the title: git-interpret-trailers(1).
 */
export function endsInTrailers(text: string): boolean {
  const lines = text.split('\n')
  const title = lines.findIndex((line) => !isComment(line) && isBlank(line))
  const start = lines.findLastIndex((line) => !isComment(line) && isBlank(line))
  if (title < 0) return false
  const { trailers, others, generated } = tally(lines.slice(start + 1))
  return generated ? trailers * 3 >= others : trailers > 0 && others === 0
}

// Read from the end, because a line that begins with a blank continues the one before it.
function tally(lines: readonly string[]): Tally {
  let [trailers, others, continuations, generated] = [0, 0, 0, false]
  for (const line of lines.toReversed()) {
    if (/^[ \t]/.test(line)) {
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

// Git's isspace() (ctype.c) knows only these two and the line ends, and no white space beyond ASCII.
function isBlank(line: string): boolean {
  return /^[ \t]*$/.test(line)
}
