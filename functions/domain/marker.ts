import { createHash } from 'node:crypto'
import type { PullRequestText, ShownPullRequest } from './pull-requests.ts'

/**
 * The last line of a body: whose it is, and a digest of title and body as they were set. A link reference definition
 * (CommonMark 0.31, section 4.7) is shown by no host, unless a block before it was left open; Bitbucket shows HTML
 * comments.
 */
const MARKER = /(?:^|\n)\[commitlet:([0-9A-Za-z-]{1,64}):([0-9a-f]{16})\]: #\s*$/
const DIGITS = 16

/** How GitLab and Gitea say in the title that it is a draft, any number of times. */
const DRAFT = /^(?:(?:draft|wip):\s*|\[(?:draft|wip)\]\s*|\((?:draft|wip)\)\s*)+/i

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
 * Reads the marker at the end of a body: one that stands before it is part of what the body says. Undefined: Commitlet
 * has not opened it, or somebody took the marker out or wrote below it.
 */
export function readMarker(shown: ShownPullRequest): Marked | undefined {
  const body = unified(shown.body)
  const found = MARKER.exec(body)
  const [, uid, digest] = found ?? []
  if (found === null || uid === undefined) return undefined
  const text = plain({ title: shown.title, body: body.slice(0, found.index) })
  return { ...text, uid, edited: digestOf(text) !== digest }
}

/** Whether two say the same, but for what hosts change by themselves: line ends, blanks around, the mark of a draft. */
export function saysTheSame(one: PullRequestText, other: PullRequestText): boolean {
  return digestOf(one) === digestOf(other)
}

function digestOf(text: PullRequestText): string {
  const { title, body } = plain(text)
  const said = [title.replace(DRAFT, ''), body]
  return createHash('sha256').update(JSON.stringify(said)).digest('hex').slice(0, DIGITS)
}

function plain({ title, body }: PullRequestText): PullRequestText {
  return { title: title.trim(), body: unified(body).trim() }
}

function unified(text: string): string {
  return text.replace(/\r\n?/g, '\n')
}
