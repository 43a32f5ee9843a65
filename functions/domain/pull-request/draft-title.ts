/** How a host says in the title of a pull request that it is a draft. */
export interface DraftMark {
  /** What is put before a title that has none. */
  readonly written: string
  /** What the host itself takes for one, at the start of a title, any number of times. */
  readonly read: RegExp
}

/** The marks of all hosts. */
const ANY_MARKS = /^(?:(?:draft|wip):\s*|\[(?:draft|wip)\]\s*|\((?:draft|wip)\)\s*)+/i

/** The title of a draft. */
export function draftTitle(title: string, mark: DraftMark): string {
  return marksOf(title, mark) === '' ? `${mark.written}${title}` : title
}

/** The title, with the marks that the shown one has. */
export function titleLike(shown: string, title: string, mark: DraftMark): string {
  return marksOf(title, mark) === '' ? `${marksOf(shown, mark)}${title}` : title
}

/** The title without what any host takes for the mark of a draft. */
export function withoutDraftMarks(title: string): string {
  return title.replace(ANY_MARKS, '')
}

function marksOf(title: string, { read }: DraftMark): string {
  return read.exec(title)?.[0] ?? ''
}
