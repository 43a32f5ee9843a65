/** A line that begins with a slash, or with backslashes before one. The groups: blanks, backslashes. */
const SLASHED = /^([^\S\r\n\u2028\u2029]*)(\\*)\//gm

/**
 * A body in which no line is a quick action of GitLab's: those would be carried out with the rights of the token and
 * vanish from the text. A backslash before the slash is Markdown for the slash itself.
 */
export function withoutQuickActions(body: string): string {
  return body.replace(SLASHED, '$1$2\\/')
}

/** The body that was written: undoes `withoutQuickActions`. */
export function withQuickActions(body: string): string {
  return body.replace(
    SLASHED,
    (_, blanks: string, backslashes: string) => `${blanks}${backslashes.slice(1)}/`,
  )
}
