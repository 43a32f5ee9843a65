import { LONGEST_BODY } from '../../domain/pull-request/marker.ts'

/** A line that begins with a slash, or with backslashes before one. The groups: blanks, backslashes. */
const SLASHED = /^([^\S\r\n\u2028\u2029]*)(\\*)\//gm
/** The same with at least one backslash. The groups: blanks, the other backslashes. */
const ESCAPED = /^([^\S\r\n\u2028\u2029]*)\\(\\*)\//gm

/**
 * A body without quick actions: GitLab would execute such lines with the rights of the token and remove them from the
 * text. A backslash before the slash is Markdown for a literal slash.
 */
export function withoutQuickActions(body: string): string {
  return body.replace(SLASHED, '$1$2\\/')
}

/** The original body: reverses `withoutQuickActions`. A body that is too long to be ours stays as it is. */
export function withQuickActions(body: string): string {
  return body.length <= LONGEST_BODY && body.includes('\\') ? body.replace(ESCAPED, '$1$2/') : body
}
