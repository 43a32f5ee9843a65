import { uptime } from 'node:os'
import { Failure } from '../../domain/failure.ts'
import type { PushBounds } from '../process/environment.ts'
import { TOO_LATE } from '../process/push-hook.ts'
import type { NewCommit, Pushed, Tip, Unlanded } from '../remote.ts'
import { fastImport } from './fast-import.ts'
import { readRemoteTip } from './fetch.ts'
import { readGitOutput, readPushReport, type GitOutput, type PushReport } from '../output/git-output.ts'
import type { Session } from './session.ts'
import { movedFailure } from '../output/moved.ts'
import { afterPush, failureOf, LACKS_BLOBS, rejection } from '../output/classify.ts'
import { AMBIGUOUS } from '../output/error-table.ts'
import { TOO_MANY_WORDS, type ErrorContext } from '../output/error-meaning.ts'
import {
  judgeByTip,
  judgeRefusal,
  refuse,
  refuseInWords,
  unreported,
  type Push,
} from '../output/push-verdict.ts'
import { repeatedWords, type Brought, type IsRepeated } from '../output/repeated-words.ts'
import type { OnlineResult } from './transport.ts'

/** Implements `push` of the port: the lease is the compare-and-swap, and `head` descends from the tip. */
export async function pushOnce(
  session: Session,
  { tip, head, commits }: Push & Pick<Brought, 'commits'>,
  remaining: () => number = () => Infinity,
): Promise<Pushed> {
  const ref = `refs/heads/${tip.branch}`
  const lease = tip.exists ? (tip.commit ?? '') : ''
  // Asked once git may begin; of a push that is late by then, the hook lets git send nothing.
  function bounds(): PushBounds {
    const milliseconds = remaining()
    const until = Number.isFinite(milliseconds) ? Math.floor(uptime() + milliseconds / 1000) : undefined
    return { ref, until }
  }
  const args = [
    'push',
    '--porcelain',
    `--force-with-lease=${ref}:${lease}`,
    '--',
    session.url,
    `${head}:${ref}`,
  ]
  const { context } = session
  const isRepeated = repeatedWords({ url: context.url, branch: tip.branch, commits })
  const now = (): Promise<string | undefined> => readRemoteTip(session, tip.branch)
  const result = await session.online(args, { push: bounds }).catch(unlessUnheard)
  if (result === undefined) return judgeByTip(now, { tip, head }, refuse(failureOf(TOO_MANY_WORDS, context)))
  if (result.moved !== undefined) {
    const failure = movedFailure(result.moved, context, 'push')
    return result.ended.exitCode === 0 ? refuse(failure) : refuseInWords(failure)
  }
  if (result.meaning === undefined) return { kind: 'landed' }
  const output = readGitOutput(result.ended)
  // Of a pack that git breaks off, the server may report that it cannot be unpacked.
  if (output.own.includes(TOO_LATE) || LACKS_BLOBS.test(output.own)) return { kind: 'race' }
  const report = readPushReport(result.ended.stdout)
  if (AMBIGUOUS.pattern.test(output.own) || (report.ref ?? ref) !== ref)
    return refuse(failureOf(AMBIGUOUS, context))
  if (report.unreported) return judgeByTip(now, { tip, head }, unreported(context))
  // The tip, where the history of this session begins, is on no ref any more, so that the server knows nothing before it.
  if (/shallow update not allowed/.test(report.remoteRejected ?? '') && !(await isAt(tip, now)))
    return { kind: 'race' }
  const judged = judgeRef(report, output, context, isRepeated)
  if (judged === undefined) return judgeBreak(result, { tip, head }, now)
  // curl repeats a request when the connection breaks before an answer: the server may have rejected the second
  // request after it had already accepted the first.
  return output.posts > 1 ? judgeByTip(now, { tip, head }, judged) : judged
}

/** Undefined: git was ended, because the server and its hooks print more than is read. */
function unlessUnheard(error: unknown): undefined {
  if (error instanceof Failure && error.reason === 'NotSupported') return undefined
  throw error
}

/** Whether the branch is where it was; not, if it cannot be read, which the next round says. */
async function isAt({ exists, commit }: Tip, now: () => Promise<string | undefined>): Promise<boolean> {
  return (await now().catch(() => 'unreadable')) === (exists ? commit : undefined)
}

/**
 * Implements `askToPush` of the port: git goes through a push up to the list of refs of receive-pack, and sends nothing.
 * Into an empty repository a commit would go that is made for this.
 */
export async function askToPush(session: Session, { branch, commit }: Tip): Promise<void> {
  const [made] =
    commit === undefined ? await fastImport(session, undefined, [nothingAt(new Date())]) : [commit]
  const ref = `refs/heads/${branch}`
  const { moved, meaning } = await session.online(
    ['push', '--dry-run', '--porcelain', '--', session.url, `${made ?? ''}:${ref}`],
    { push: () => ({ ref }) },
  )
  if (moved !== undefined) throw movedFailure(moved, session.context, 'push')
  if (meaning instanceof Failure) throw meaning
}

function nothingAt(date: Date): NewCommit {
  return { files: [], message: 'Nothing', author: { name: 'Commitlet', email: 'commitlet' }, date }
}

function judgeRef(
  { rejected, remoteRejected: reason }: PushReport,
  { remote, own }: GitOutput,
  context: ErrorContext,
  isRepeated: IsRepeated,
): Unlanded | undefined {
  if (rejected !== undefined) return judgeOwn(rejected, context)
  return reason === undefined ? undefined : judgeRefusal({ reason, remote, unpack: own }, context, isRepeated)
}

function judgeOwn(reason: string, context: ErrorContext): Unlanded {
  if (/stale info|fetch first|non-fast-forward|needs force/.test(reason)) return { kind: 'race' }
  return { kind: 'refused', failure: rejection(reason, context), each: false }
}

async function judgeBreak(
  { meaning, undelivered }: OnlineResult,
  push: Push,
  now: () => Promise<string | undefined>,
): Promise<Pushed> {
  if (!(meaning instanceof Failure))
    return undelivered ? { kind: 'race' } : judgeByTip(now, push, { kind: 'race' })
  if (undelivered) return refuse(meaning)
  if (meaning.reason === 'PushRejected') return { kind: 'refused', failure: meaning, each: true }
  return judgeByTip(now, push, refuse(afterPush(meaning)))
}
