import { readRetryAfter } from '../../domain/network/retry-after.ts'
import type { Ended } from '../process/launcher.ts'

/** What a git said, by who said it: only its own lines can be believed. */
export interface GitOutput {
  /** Lines of git itself. */
  readonly own: string
  /** Lines that it passes on from the server, without their prefix. */
  readonly remote: string
  /** Why a push did not move the ref: git's own judgement. */
  readonly rejected: string | undefined
  /** Why a push did not move the ref: the server's judgement. */
  readonly remoteRejected: string | undefined
  /** The server has not said what became of the ref. */
  readonly unreported: boolean
  readonly retryAfterSeconds: number | undefined
  /** How many requests with a body went out. */
  readonly posts: number
}

/** Most characters of git's own words that are looked through; a server can have git repeat a long name. */
const LONGEST = 65_536
const TRACE = /^\d\d:\d\d:\d\d\.\d{6} \S+:\d+ +/
const REMOTE = /^remote: ?/
const REMOTE_ERROR = /^fatal: remote error: /

/** Sorts the two streams of a git that ran with LC_ALL=C, GIT_TRACE_CURL=1 and, pushing, --porcelain. */
export function readGitOutput(ended: Ended, now: Date = new Date()): GitOutput {
  const lines = ended.stderr.split(/[\r\n]+/).map((line) => line.trimEnd())
  const traced = lines.filter((line) => TRACE.test(line))
  const said = lines.filter((line) => line !== '' && !TRACE.test(line))
  // An error of the server may have several lines, and git ends after it.
  const end = said.findIndex((line) => REMOTE_ERROR.test(line))
  const before = end < 0 ? said : said.slice(0, end)
  const error = end < 0 ? [] : said.slice(end)
  return {
    own: before
      .filter((line) => !REMOTE.test(line))
      .join('\n')
      .slice(0, LONGEST),
    remote: [...before.filter((line) => REMOTE.test(line)), ...error]
      .map((line) => line.replace(REMOTE, '').replace(REMOTE_ERROR, ''))
      .join('\n'),
    rejected: reasonOf(ended.stdout, 'rejected'),
    remoteRejected: reasonOf(ended.stdout, 'remote rejected'),
    unreported: reasonOf(ended.stdout, 'remote failure') !== undefined,
    retryAfterSeconds: retryAfterIn(traced, now),
    posts: traced.filter((line) => /=> Send header: POST /.test(line)).length,
  }
}

// `!<tab><from>:<to><tab>[rejected] (stale info)`, see git-push(1), --porcelain.
function reasonOf(stdout: string, word: string): string | undefined {
  const marker = `\t[${word}]`
  const line = stdout.split('\n').find((candidate) => candidate.startsWith('!') && candidate.includes(marker))
  if (line === undefined) return undefined
  return line
    .slice(line.indexOf(marker) + marker.length)
    .trim()
    .replace(/^\((.*)\)$/, '$1')
}

/** By the server's own clock, where it shows it. */
function retryAfterIn(traced: readonly string[], now: Date): number | undefined {
  const field = lastHeader(traced, 'retry-after')
  const date = Date.parse(lastHeader(traced, 'date') ?? '')
  return field === undefined ? undefined : readRetryAfter(field, Number.isNaN(date) ? now.getTime() : date)
}

/** The last value of a header that a server sent. */
function lastHeader(traced: readonly string[], name: string): string | undefined {
  const header = new RegExp(`<= Recv header: ${name}: *(.+)$`, 'i')
  return traced.map((line) => header.exec(line)?.[1]).findLast((value) => value !== undefined)
}
