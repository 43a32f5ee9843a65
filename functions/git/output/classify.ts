import { Failure } from '../../domain/failure.ts'
import type { Ended } from '../process/launcher.ts'
import { redact } from '../../domain/redact.ts'
import { OUTAGE, ROWS, type ErrorMeaning, type ErrorContext } from './error-table.ts'
import { readGitOutput, type GitOutput } from './git-output.ts'
import { statusMeaning } from './http-status-errors.ts'

/** What a git that talked to the remote and did not end with 0 means. */
export type Meaning =
  /** The ref that was asked for is not there. */
  | 'absent'
  /** No commit is newer than the date that was asked for. */
  | 'nothing newer'
  /** Another writer moved the branch meanwhile. */
  | 'race'
  | Failure

/** Reads what git said (facts: git 2.39 with LC_ALL=C). Unlisted: PushRejected where the remote said something, else Internal. */
export function classify(ended: Ended, context: ErrorContext): Meaning {
  if (ended.exitCode === undefined) return explainKill(ended, context)
  const output = readGitOutput(ended)
  if (/couldn't find remote ref/.test(output.own)) return 'absent'
  if (/error processing shallow info/.test(output.own)) return 'nothing newer'
  if (/^upload-pack: not our ref/m.test(output.remote)) return 'race'
  // A new branch, and the default branch moved on: the remote does not show the tip below it any more, so that
  // git wants to send all of it and lacks the blobs.
  if (/^fatal: unable to read [0-9a-f]{40}$/m.test(output.own)) return 'race'
  return explainStatus(output, context) ?? explainOwn(output, context) ?? explainRest(ended, output, context)
}

/** A refusal in the remote's own words, as far as they may be shown. */
export function rejection(words: string, context: ErrorContext): Failure {
  const quoted = redact(words, context.secrets)
  const said = quoted === '' ? 'without saying why' : `and says ${shown(quoted)}`
  return new Failure(
    'PushRejected',
    `${context.url} refuses the commit ${said}; use another branch or path, or ask whoever looks after the repository.`,
  )
}

function shown(quoted: string | undefined): string {
  return quoted === undefined ? 'something that cannot be shown' : `"${quoted}"`
}

/** The host's own failure, where its words tell of one. */
export function outage(words: string, context: ErrorContext): Failure | undefined {
  return OUTAGE.pattern.test(words) ? failureOf(OUTAGE, context, undefined) : undefined
}

function explainKill(ended: Ended, { url, deadlineSeconds }: ErrorContext): Failure {
  if (ended.seconds >= deadlineSeconds)
    return new Failure(
      'Timeout',
      `${url} had not answered when the ${deadlineSeconds} seconds of an attempt were over; it is tried again.`,
    )
  return new Failure('Internal', `Git was ended from outside while it talked to ${url}; it is tried again.`)
}

function explainOwn({ own, retryAfterSeconds }: GitOutput, context: ErrorContext): Failure | undefined {
  const row = ROWS.find(({ pattern }) => pattern.test(own))
  if (row === undefined) return undefined
  return failureOf(row, context, retryAfterSeconds)
}

/** The Failure that has this meaning, at this repository. */
export function failureOf(
  { reason, sentence }: ErrorMeaning,
  context: ErrorContext,
  retryAfterSeconds?: number,
): Failure {
  const rest = typeof sentence === 'string' ? sentence : sentence(context)
  return new Failure(
    reason,
    `${context.url} ${rest}`,
    retryAfterSeconds === undefined ? {} : { retryAfterSeconds },
  )
}

function explainStatus({ own, retryAfterSeconds }: GitOutput, context: ErrorContext): Failure | undefined {
  if (/could not read (Username|Password)|Authentication failed for/.test(own))
    return failureOf(statusMeaning(401), context, undefined)
  if (/^fatal: repository '.*' not found/m.test(own)) return failureOf(statusMeaning(404), context, undefined)
  const status = Number(
    /(?:requested URL returned error: |RPC failed; HTTP )(?<status>\d{3})/.exec(own)?.groups?.['status'],
  )
  if (Number.isNaN(status)) return undefined
  // Hosts that slow a client down do not all say 429.
  if (status === 403 && retryAfterSeconds !== undefined)
    return failureOf(statusMeaning(429), context, retryAfterSeconds)
  return failureOf(statusMeaning(status), context, retryAfterSeconds)
}

function explainRest(ended: Ended, output: GitOutput, context: ErrorContext): Failure {
  if (output.remote !== '') return outage(output.remote, context) ?? rejection(output.remote, context)
  const cause = new Error(shown(redact(output.own, context.secrets)))
  if (ended.exitCode === 127)
    return new Failure(
      'Internal',
      'The programs sh, setpriv, timeout and git are not all installed; the operator has to fix the image.',
      { cause },
    )
  return new Failure(
    'Internal',
    `Git ended with ${ended.exitCode} at ${context.url} for a reason that Commitlet does not know; it is tried again.`,
    { cause },
  )
}
