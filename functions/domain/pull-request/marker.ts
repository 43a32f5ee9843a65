import { createHash } from 'node:crypto'
import { withoutDraftMarks } from './draft-title.ts'
import type { PullRequestText, ShownPullRequest } from './pull-requests.ts'

/**
 * A line of its own: whose it is, and a digest of title and body as they were set. A link reference definition
 * (CommonMark 0.31, section 4.7) is shown by no host, unless a block before it was left open; Bitbucket shows HTML
 * comments.
 */
const MARKER = /^\[commitlet:([0-9A-Za-z-]{1,64}):([0-9a-f]{16})\]: #[ \t]*$/gm
const DIGITS = 16

/** What a marked pull request says besides its marker. */
export interface Marked extends PullRequestText {
  readonly uid: string
  /** Somebody has changed title or body since. */
  readonly edited: boolean
}

/** Title and body with the marker of a resource's uid at the end of the body. */
export function marked(text: PullRequestText, uid: string): PullRequestText {
  const { title, body } = plain(text)
  const marker = `[commitlet:${uid}:${digestOf(text)}]: #`
  return { title, body: body === '' ? marker : `${body}\n\n${marker}` }
}

/**
 * Reads the last marker of a body: one that stands before it is part of what the body says, and what bots and people
 * have written below it is an edit. Undefined: Commitlet has not opened it, or somebody took the marker out.
 */
export function readMarker(shown: ShownPullRequest): Marked | undefined {
  const body = unified(shown.body)
  const found = [...body.matchAll(MARKER)].at(-1)
  const [whole = '', uid, digest] = found ?? []
  if (found === undefined || uid === undefined) return undefined
  const text = plain({ title: shown.title, body: body.slice(0, found.index) })
  const below = body.slice(found.index + whole.length).trim()
  return { ...text, uid, edited: below !== '' || digestOf(text) !== digest }
}

/** Whether two say the same, but for what hosts change by themselves: line ends, blanks around, the mark of a draft. */
export function saysTheSame(one: PullRequestText, other: PullRequestText): boolean {
  return digestOf(one) === digestOf(other)
}

function digestOf(text: PullRequestText): string {
  const { title, body } = plain(text)
  const said = [withoutDraftMarks(title), body]
  return createHash('sha256').update(JSON.stringify(said)).digest('hex').slice(0, DIGITS)
}

function plain({ title, body }: PullRequestText): PullRequestText {
  return { title: title.trim(), body: unified(body).trim() }
}

function unified(text: string): string {
  return text.replace(/\r\n?/g, '\n')
}
