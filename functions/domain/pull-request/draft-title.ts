/** How a host marks a draft in the title of a pull request. */
export interface DraftMark {
  /** The mark to put before a title that has none. */
  readonly written: string
  /** What the host recognises as marks at the start of a title. */
  readonly read: RegExp
}

/** The marks of all hosts. */
const ANY_MARKS = /^(?:(?:draft|wip):\s*|\[(?:draft|wip)\]\s*|\((?:draft|wip)\)\s*)+/i

/** The title of a draft. */
export function draftTitle(title: string, mark: DraftMark): string {
  return marksOf(title, mark) === '' ? `${mark.written}${title}` : title
}

/** The title with the marks of the shown one, unless it has marks itself. */
export function titleLike(shown: string, title: string, mark: DraftMark): string {
  return marksOf(title, mark) === '' ? `${marksOf(shown, mark)}${title}` : title
}

/** The title without anything that any host recognises as the mark of a draft. */
export function withoutDraftMarks(title: string): string {
  return title.replace(ANY_MARKS, '')
}

function marksOf(title: string, { read }: DraftMark): string {
  return read.exec(title)?.[0] ?? ''
}
