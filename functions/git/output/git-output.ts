import { retryAfterOf } from '../../domain/network/retry-after.ts'
import { REMOTE, REMOTE_ERROR, TRACE } from '../process/kept-stderr.ts'
import type { Ended } from '../process/launcher.ts'

/** The output of git, by source: only git's own lines can be trusted. */
export interface GitOutput {
  /** Lines of git itself. */
  readonly own: string
  /** Lines that it forwards from the server, without their prefix. */
  readonly remote: string
  /** Why git itself rejected the update of the ref. */
  readonly rejected: string | undefined
  /** Why the server rejected the update of the ref. */
  readonly remoteRejected: string | undefined
  /** The server has not reported whether it updated the ref. */
  readonly unreported: boolean
  readonly retryAfterSeconds: number | undefined
  /** Where the last redirect of an HTTP server led. */
  readonly location: string | undefined
  /** Number of POST requests that were sent. */
  readonly posts: number
}

/** Sorts the two streams of a git that ran with LC_ALL=C, GIT_TRACE_CURL=1 and, pushing, --porcelain. */
export function readGitOutput(ended: Ended, now: Date = new Date()): GitOutput {
  const lines = ended.stderr.split(/[\r\n]+/).map((line) => line.trimEnd())
  const traced = lines.filter((line) => TRACE.test(line))
  const messages = lines.filter((line) => line !== '' && !TRACE.test(line))
  // An error of the server may have several lines, and git ends after it.
  const end = messages.findIndex((line) => REMOTE_ERROR.test(line))
  const before = end < 0 ? messages : messages.slice(0, end)
  const error = end < 0 ? [] : messages.slice(end)
  return {
    own: before.filter((line) => !REMOTE.test(line)).join('\n'),
    remote: [...before.filter((line) => REMOTE.test(line)), ...error]
      .map((line) => line.replace(REMOTE, '').replace(REMOTE_ERROR, ''))
      .join('\n'),
    rejected: reasonOf(ended.stdout, 'rejected'),
    remoteRejected: reasonOf(ended.stdout, 'remote rejected'),
    unreported: reasonOf(ended.stdout, 'remote failure') !== undefined,
    retryAfterSeconds: retryAfterIn(traced, now),
    location: lastHeader(traced, 'location'),
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

function retryAfterIn(traced: readonly string[], now: Date): number | undefined {
  const headers = { retryAfter: lastHeader(traced, 'retry-after'), date: lastHeader(traced, 'date') }
  return retryAfterOf(headers, now.getTime())
}

/** The last value of a header that a server sent. */
function lastHeader(traced: readonly string[], name: string): string | undefined {
  const header = new RegExp(`<= Recv header: ${name}: *(.+)$`, 'i')
  return traced.map((line) => header.exec(line)?.[1]).findLast((value) => value !== undefined)
}
