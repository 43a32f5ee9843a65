import { retryAfterOf } from '../../domain/network/retry-after.ts'
import { REMOTE, REMOTE_ERROR, TRACE } from '../process/kept-stderr.ts'
import type { Ended } from '../process/launcher.ts'

/** The output of git, by source: only git's own lines can be trusted. */
export interface GitOutput {
  /** Lines of git itself. */
  readonly own: string
  /** Those of them that come before the first of the server. */
  readonly early: string
  /** Lines that it forwards from the server, without their prefix. */
  readonly remote: string
  readonly retryAfterSeconds: number | undefined
  /** Where the last redirect of an HTTP server led. */
  readonly location: string | undefined
  /** Number of POST requests that were sent. */
  readonly posts: number
}

/** How a git ended, with its messages sorted, so that nobody has to sort them again. */
export interface ReadEnded extends Ended {
  readonly output: GitOutput
}

/** Sorts the messages of a git that has ended. */
export function withOutput(ended: Ended): ReadEnded {
  return { ...ended, output: readGitOutput(ended) }
}

/** Sorts the messages of a git that ran with LC_ALL=C and GIT_TRACE_CURL=1, unless they are sorted already. */
export function readGitOutput(ended: Ended | ReadEnded, now: Date = new Date()): GitOutput {
  if ('output' in ended) return ended.output
  const lines = ended.stderr.split(/[\r\n]+/).map((line) => line.trimEnd())
  const traced = lines.filter((line) => TRACE.test(line))
  const messages = lines.filter((line) => line !== '' && !TRACE.test(line))
  // An error of the server may have several lines, and git ends after it.
  const end = messages.findIndex((line) => REMOTE_ERROR.test(line))
  const before = end < 0 ? messages : messages.slice(0, end)
  const error = end < 0 ? [] : messages.slice(end)
  const first = before.findIndex((line) => REMOTE.test(line))
  return {
    own: before.filter((line) => !REMOTE.test(line)).join('\n'),
    early: before.slice(0, first < 0 ? undefined : first).join('\n'),
    remote: [...before.filter((line) => REMOTE.test(line)), ...error]
      .map((line) => line.replace(REMOTE, '').replace(REMOTE_ERROR, ''))
      .join('\n'),
    retryAfterSeconds: retryAfterIn(traced, now),
    location: lastHeader(traced, 'location'),
    posts: traced.filter((line) => /=> Send header: POST /.test(line)).length,
  }
}

/** What became of the ref that was pushed. */
export interface PushReport {
  /** The full name of the ref that was not moved; undefined: it has moved, or nothing is said. */
  readonly ref: string | undefined
  /** Why git itself rejected the update of the ref. */
  readonly rejected: string | undefined
  /** Why the server rejected the update of the ref. */
  readonly remoteRejected: string | undefined
  /** The server has not reported whether it updated the ref. */
  readonly unreported: boolean
}

// `!<tab><from>:<to><tab>[rejected] (stale info)`, see git-push(1), --porcelain.
const REFUSED =
  /(?:^|\n)!(?:\t[^\t\n:]*:([^\t\n:]*)(?=\t))?[^\n]*?\t\[(rejected|remote rejected|remote failure)\]([^\n]*)/g

/** Reads the standard output of a push with --porcelain. */
export function readPushReport(stdout: string): PushReport {
  const reasons = new Map<string, string>()
  let ref: string | undefined
  for (const [, moved, word = '', reason = ''] of stdout.matchAll(REFUSED)) {
    ref ??= moved
    if (!reasons.has(word)) reasons.set(word, reason.trim().replace(/^\(([^]*)\)$/, '$1'))
  }
  return {
    ref,
    rejected: reasons.get('rejected'),
    remoteRejected: reasons.get('remote rejected'),
    unreported: reasons.has('remote failure'),
  }
}

function retryAfterIn(traced: readonly string[], now: Date): number | undefined {
  const headers = { retryAfter: lastHeader(traced, 'retry-after'), date: lastHeader(traced, 'date') }
  return retryAfterOf(headers, now.getTime())
}

/** The last value of a header that a server sent. */
function lastHeader(traced: readonly string[], name: string): string | undefined {
  const header = new RegExp(`<= Recv header: ${name}: *(.+)$`, 'i')
  return traced.map((line) => header.exec(line)?.[1]).findLast((value) => value !== undefined)
}
