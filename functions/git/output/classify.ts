import { Failure } from '../../domain/failure.ts'
import { BROKEN_PIPE, RAN_OUT, type Ended } from '../process/launcher.ts'
import { redact } from '../../domain/redact.ts'
import { isFull } from '../../domain/repository/size-limit.ts'
import { LOST_INDEX_PACK, OUTAGE, OUT_OF_MEMORY, OUT_OF_TIME, ROWS, TOO_LARGE } from './error-table.ts'
import {
  BROKEN_OFF,
  NOT_GIT,
  NOTHING_NEWER,
  TOO_MUCH_WORK,
  type ErrorMeaning,
  type ErrorContext,
} from './error-meaning.ts'
import { readGitOutput, type GitOutput, type ReadEnded } from './git-output.ts'
import { redirectMeaning, statusMeaning } from './http-status-errors.ts'
import { redirectAddress } from './moved.ts'

/** What the failure of a git that talked to the remote means. */
export type Meaning =
  /** The requested ref does not exist. */
  | 'absent'
  /** No commit is newer than the requested date. */
  | 'nothing newer'
  /** The server knows a depth from the tip alone, neither a date nor one from where the history was cut. */
  | 'depth alone'
  /** The server refuses the filter of the fetch. */
  | 'no filter'
  /** Another writer moved the branch in the meantime. */
  | 'race'
  | Failure

/** What a git was at: only a push can be refused, all else may succeed the next time. */
export type Doing = 'reading' | 'push'

/**
 * Reads git's output (git 2.39 with LC_ALL=C). Not listed: what `unknownError` makes of it if the remote printed
 * something, else Internal.
 */
export function classify(ended: Ended, doing: Doing, context: ErrorContext): Meaning {
  if (ended.exitCode === undefined) return explainKill(ended, context)
  if (ended.exitCode === RAN_OUT) return failureOf(TOO_MUCH_WORK, context)
  const output = readGitOutput(ended)
  if (/couldn't find remote ref/.test(output.own)) return 'absent'
  if (/error processing shallow info/.test(output.own)) return 'nothing newer'
  if (/^fatal: Server does not support --(?:shallow-since|deepen)$/m.test(output.own)) return 'depth alone'
  if (doing === 'reading' && NOTHING_NEWER.test(output.remote)) return 'nothing newer'
  if (/^upload-pack: not our ref/m.test(output.remote)) return 'race'
  if (doing === 'reading' && FILTER_REFUSED.test(output.remote)) return 'no filter'
  if (LACKS_BLOBS.test(output.own)) return 'race'
  return (
    explainStatus(output, context) ??
    explainOwn(output, context) ??
    (output.remote === ''
      ? explainSilent(ended, output, context)
      : unknownError(output.remote, ended.exitCode === UNSENT ? doing : 'reading', context))
  )
}

/** The exit code of a git that has failed before it has pushed anything; over HTTPS it is 1 afterwards (measured with git 2.39). */
export const UNSENT = 128

/**
 * What git says where a new branch is pushed while the default branch moves: the remote no longer advertises the tip, so that git
 * tries to send everything and lacks the blobs.
 */
export const LACKS_BLOBS = /^fatal: unable to read [0-9a-f]{40}$/m

// With uploadpackfilter.allow, a server says that it has filters, and refuses some of them.
const FILTER_REFUSED = /^(?:git upload-pack: )?filter '[^'\n]*' not supported$/m

/** The limit that this git has reached: of its memory, of its time of the processor, or of the size of what it fetches. */
export function limitReached(ended: Ended): 'memory' | 'time' | 'size' | undefined {
  const { own } = readGitOutput(ended)
  if (TOO_LARGE.test(own)) return 'size'
  if (ended.exitCode === RAN_OUT || OUT_OF_TIME.test(own)) return 'time'
  return OUT_OF_MEMORY.test(own) ? 'memory' : undefined
}

/**
 * How it ended, with RAN_OUT where git says only that its index-pack has ended, which it does not wait for, after as long as
 * that may take of the processor: it was killed for memory, or for its time. What is killed for memory has rarely run so long.
 */
export function withRanOut(ended: ReadEnded, cpuSeconds: number): ReadEnded {
  if (ended.seconds < cpuSeconds || !LOST_INDEX_PACK.test(ended.output.own)) return ended
  return { ...ended, exitCode: RAN_OUT }
}

/** A refusal with the remote's own message, as far as it can be shown. Where the repository is full, it is tried again slowly. */
export function rejection(words: string, context: ErrorContext): Failure {
  const quoted = redact(words, context.secrets)
  const why = quoted === '' ? 'without a reason' : `and reports ${shown(quoted)}`
  return new Failure(
    'PushRejected',
    `${context.url} refuses the commit ${why}; use another branch or path, or ask a maintainer of the repository.`,
    isFull(words) ? { retry: 'slow' } : {},
  )
}

/**
 * The failure for an error of the remote that is in no table, and in no report. It cannot be a final refusal, because no commit was
 * looked at, and while it is read, or in place of a report, it is none at all: its disk may be full, or its repository broken.
 */
export function unknownError(words: string, doing: Doing, context: ErrorContext): Failure {
  if (OUTAGE.pattern.test(words)) return failureOf(OUTAGE, context)
  if (doing === 'reading') return notServed(words, context)
  const { reason, message } = rejection(words, context)
  return new Failure(reason, message, { retry: 'slow' })
}

function notServed(words: string, { url, secrets }: ErrorContext): Failure {
  return new Failure(
    'ProviderUnavailable',
    `${url} does not serve Git and reports ${shown(redact(words, secrets))}; Commitlet retries automatically.`,
  )
}

function shown(quoted: string | undefined): string {
  return quoted === undefined ? 'something that cannot be shown' : `"${quoted}"`
}

/**
 * The same failure for the answer to a push. One that is not Git's says nothing about the login, and the push may have been
 * carried out: it is not sent again with another one.
 */
export function afterPush(failure: Failure): Failure {
  if (!failure.message.endsWith(NOT_GIT)) return failure
  return new Failure(failure.reason, failure.message, { cause: failure, fallback: false })
}

function explainKill(ended: Ended, { url, deadlineSeconds }: ErrorContext): Failure {
  if (ended.seconds >= deadlineSeconds)
    return new Failure(
      'Timeout',
      `${url} did not answer within the ${deadlineSeconds} seconds of an attempt; Commitlet retries automatically.`,
    )
  return new Failure('Internal', `Git was killed while it talked to ${url}; Commitlet retries automatically.`)
}

function explainOwn(
  { own, early, retryAfterSeconds }: GitOutput,
  context: ErrorContext,
): Failure | undefined {
  const row = ROWS.find(({ pattern, connecting }) => pattern.test(connecting === true ? early : own))
  if (row === undefined) return undefined
  return failureOf(row, context, retryAfterSeconds)
}

/** The Failure with this meaning for this repository. */
export function failureOf(
  { reason, retry, sentence }: ErrorMeaning,
  context: ErrorContext,
  retryAfterSeconds?: number,
): Failure {
  const rest = typeof sentence === 'string' ? sentence : sentence(context)
  return new Failure(reason, `${context.url} ${rest}`, {
    ...(retry && { retry }),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  })
}

function explainStatus(
  { own, retryAfterSeconds, location }: GitOutput,
  context: ErrorContext,
): Failure | undefined {
  if (/could not read (Username|Password)|Authentication failed for/.test(own))
    return failureOf(statusMeaning(401), context, undefined)
  if (/^fatal: repository '.*' not found/m.test(own)) return failureOf(statusMeaning(404), context, undefined)
  const status = Number(
    /(?:requested URL returned error: |RPC failed; HTTP )(?<status>\d{3})/.exec(own)?.groups?.['status'],
  )
  // Behind one that is no error, the answer has broken off.
  if (Number.isNaN(status) || status < 300) return undefined
  if (status >= 300 && status < 400 && location !== undefined)
    return failureOf(redirectMeaning(redirectAddress(location, context)), context)
  return statusFailure(status, context, retryAfterSeconds)
}

/** What an HTTP status of the server means for this repository. */
export function statusFailure(status: number, context: ErrorContext, retryAfterSeconds?: number): Failure {
  // Not every host that limits requests answers with 429.
  const limited = status === 403 && retryAfterSeconds !== undefined
  return failureOf(statusMeaning(limited ? 429 : status), context, retryAfterSeconds)
}

function explainSilent(ended: Ended, output: GitOutput, context: ErrorContext): Failure {
  if (ended.exitCode === BROKEN_PIPE) return failureOf(BROKEN_OFF, context)
  const cause = new Error(shown(redact(output.own, context.secrets)))
  if (ended.exitCode === 127)
    return new Failure(
      'Internal',
      'One of the programs sh, nice, setpriv, timeout and git is not installed; your Commitlet operator has to fix the image.',
      { cause },
    )
  return new Failure(
    'Internal',
    `Git exited with ${ended.exitCode} at ${context.url} for a reason that Commitlet does not know; Commitlet retries automatically.`,
    { cause },
  )
}
