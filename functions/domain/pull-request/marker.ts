import { createHash } from 'node:crypto'
import { withoutDraftMarks } from './draft-title.ts'
import type { PullRequestText, ShownPullRequest } from './pull-requests.ts'

/**
 * A line of its own with the uid of the resource, and a digest of title and body as they were set. No host shows a link
 * reference definition (CommonMark 0.31, section 4.7), unless a block before it was left open; Bitbucket would show an
 * HTML comment.
 */
const MARKER = /^\[commitlet:([0-9A-Za-z-]{1,64}):([0-9a-f]{16})\]: #[ \t]*$/my
const DIGITS = 16
/**
 * Maximum characters of a body that is read: the spec allows 60,000, to which hosts add a carriage return and GitLab a
 * backslash for each line. People may write more, and some hosts allow any number.
 */
export const LONGEST_BODY = 131_072
const BEGINNING = '[commitlet:'
/** How many of them are looked at, from the end: people do not write so many below a marker. */
const MOST_BEGINNINGS = 100

/** The text of a marked pull request without its marker, and what the marker shows. */
export interface Marked extends PullRequestText {
  readonly uid: string
  /** Someone has changed title or body since. */
  readonly edited: boolean
}

/** Title and body with the marker of a resource's uid at the end of the body. */
export function marked(text: PullRequestText, uid: string): PullRequestText {
  const { title, body } = plain(text)
  const marker = `[commitlet:${uid}:${digestOf(text)}]: #`
  return { title, body: body === '' ? marker : `${body}\n\n${marker}` }
}

/**
 * Reads the last marker of a body: an earlier one is part of the text, and text that bots and people have added below it
 * is an edit. Undefined: Commitlet has not opened the pull request, or someone has removed the marker, or has written
 * so much that the body is not read.
 */
export function readMarker(shown: ShownPullRequest): Marked | undefined {
  if (shown.body.length > LONGEST_BODY || !shown.body.includes(BEGINNING)) return undefined
  const body = unified(shown.body)
  const found = lastMarker(body)
  if (found === undefined) return undefined
  const [whole, uid = '', digest] = found
  const text = plain({ title: shown.title, body: body.slice(0, found.index) })
  const below = body.slice(found.index + whole.length).trim()
  return { ...text, uid, edited: below !== '' || digestOf(text) !== digest }
}

/** The uid in the last marker of a body; undefined as for `readMarker`, which takes longer. */
export function uidIn(body: string): string | undefined {
  return body.length > LONGEST_BODY ? undefined : lastMarker(body)?.[1]
}

/** From the end: a body of a host may have thousands. */
function lastMarker(body: string): RegExpExecArray | undefined {
  let at = body.lastIndexOf(BEGINNING)
  for (let seen = 0; at >= 0 && seen < MOST_BEGINNINGS; seen += 1) {
    MARKER.lastIndex = at
    const found = MARKER.exec(body)
    if (found !== null) return found
    at = at === 0 ? -1 : body.lastIndexOf(BEGINNING, at - 1)
  }
  return undefined
}

/** Whether two texts are equal, apart from what hosts change: line ends, surrounding blanks, the mark of a draft. */
export function saysTheSame(one: PullRequestText, other: PullRequestText): boolean {
  return digestOf(one) === digestOf(other)
}

function digestOf(text: PullRequestText): string {
  const { title, body } = plain(text)
  const content = [withoutDraftMarks(title), body]
  return createHash('sha256').update(JSON.stringify(content)).digest('hex').slice(0, DIGITS)
}

function plain({ title, body }: PullRequestText): PullRequestText {
  return { title: title.trim(), body: unified(body).trim() }
}

/** The text with LF as its only line end; a text that is too long to be ours stays as it is. */
export function unified(text: string): string {
  if (text.length > LONGEST_BODY || !text.includes('\r')) return text
  return text.replaceAll('\r\n', '\n').replaceAll('\r', '\n')
}
