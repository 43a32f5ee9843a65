import { COMMIT_ID_TRAILER, commitletId, type CommitCause } from './commit-id.ts'
import { COMMIT_SEAL_TRAILER } from './commit-seal.ts'
import { endsInTrailers, LEADING_BLANKS } from './trailers.ts'

/** The parts of a commit message. */
export interface MessageParts extends CommitCause {
  /** The user's own text. */
  readonly message: string
  readonly namespace: string
  readonly name: string
  /** See commit-seal.ts: a trailer for each; default: none. */
  readonly seals?: readonly string[] | undefined
  /** The Kubernetes user who applied it; undefined: there is no such trailer. */
  readonly requestedBy: string | undefined
}

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
    ...(parts.seals ?? []).map((seal) => `${COMMIT_SEAL_TRAILER}: ${seal}`),
    ...requestedBy(parts.requestedBy),
  ]
  return `${text}\n${endsInTrailers(text) ? '' : '\n'}${trailers.join('\n')}\n`
}

// A line end in a user name could forge a trailer.
function requestedBy(user: string | undefined): readonly string[] {
  const name = user?.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/gu, '?').trim() ?? ''
  return name === '' ? [] : [`Requested-by: ${name}`]
}
