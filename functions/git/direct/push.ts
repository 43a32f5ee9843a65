import { Failure } from '../../domain/failure.ts'
import type { ErrorContext } from '../output/error-meaning.ts'
import { movedFailure, readMoved } from '../output/moved.ts'
import {
  judgeByTip,
  judgeRefusal,
  refuse,
  refuseInWords,
  unreported,
  type Push,
} from '../output/push-verdict.ts'
import { repeatedWords, type IsRepeated } from '../output/repeated-words.ts'
import { readPushReport, type PushReport } from '../protocol/receive-pack.ts'
import type { Pushed, Tip, Unlanded } from '../remote.ts'
import { readRemoteTip } from './read-tip.ts'
import { explained, type DirectSession } from './session.ts'
import { turnToRead, type Delivery } from './channels/channel.ts'
import type { WrittenCommits } from './write-commits.ts'

/** What a push sends. */
export interface Sent extends Pick<WrittenCommits, 'commits' | 'pack' | 'latest'> {
  /** How long the push may still begin, in milliseconds; left out: for ever. */
  readonly remaining?: (() => number) | undefined
}

/**
 * Pushes a pack of what `head` needs besides the objects of the tip: one request. The tip is the lease: the server
 * moves the branch from there or not at all, however late it carries out the request. So a commit that was made for an
 * old state of a resource cannot land after one for a newer state: that one has moved the branch. Nothing is sent after
 * the session's signal has fired, nor where no time remains.
 */
export async function push(session: DirectSession, { tip, head }: Push, sent: Sent): Promise<Pushed> {
  const update = { ref: refOf(tip), from: tip.exists ? tip.commit : undefined, to: head }
  const mayBegin = (): boolean => (sent.remaining?.() ?? Infinity) > 0
  const delivery = await session.channel.push(update, sent.pack, mayBegin)
  if (delivery.kind === 'answered') await turnToRead(session.share, delivery.answer)
  const { url } = session.context
  const isRepeated = repeatedWords({ url, branch: tip.branch, commits: sent.commits })
  const judged = judge(delivery, { tip, isRepeated }, session)
  const pushed = judged.certain
    ? judged.pushed
    : await judgeByTip(() => readRemoteTip(session, tip.branch), { tip, head }, judged.pushed)
  if (pushed.kind === 'landed') {
    session.objects.remember(sent.latest)
    session.tips.set(tip.branch, head)
  }
  return pushed
}

function refOf({ branch }: Tip): string {
  return `refs/heads/${branch}`
}

/** Not `certain`: the branch shows what became of it. */
type Judged =
  { readonly pushed: Pushed; readonly certain: true } | { readonly pushed: Unlanded; readonly certain: false }

/** What an answer is judged by. */
interface Basis {
  readonly tip: Tip
  readonly isRepeated: IsRepeated
}

function judge(delivery: Delivery, basis: Basis, session: DirectSession): Judged {
  if (delivery.kind === 'answered') return judgeAnswer(delivery, basis, session)
  if (delivery.kind === 'stale') return { pushed: { kind: 'race' }, certain: true }
  if (delivery.kind === 'refused') return { pushed: delivery, certain: true }
  const { failure } = delivery
  const pushed = { kind: 'refused', failure, each: failure.reason === 'PushRejected' } as const
  return { pushed, certain: false }
}

function judgeAnswer(
  { answer, words }: Extract<Delivery, { readonly kind: 'answered' }>,
  basis: Basis,
  { context }: DirectSession,
): Judged {
  const report = readReport(answer, basis.tip)
  if (report instanceof Error) {
    const failure = explained(report, context)
    return { pushed: failure instanceof Failure ? refuse(failure) : unreported(context), certain: false }
  }
  const moved = readMoved(`${words}\n${report.progress}`, context)
  if (moved !== undefined) {
    const failure = movedFailure(moved, context, 'push')
    const hasLanded = report.ref === 'ok' && report.unpackError === undefined
    return { pushed: hasLanded ? refuse(failure) : refuseInWords(failure), certain: true }
  }
  if (report.ref === undefined && report.unpackError === undefined)
    return { pushed: unreported(context), certain: false }
  return { pushed: judgeReport(report, basis, context), certain: true }
}

function readReport(answer: Buffer, tip: Tip): PushReport | Error {
  try {
    return readPushReport(answer, refOf(tip))
  } catch (error) {
    return error instanceof Error ? error : new Error('A report cannot be read', { cause: error })
  }
}

// The remote lacks what a remembered tip says it has.
const LACKING = /missing necessary objects|shallow update not allowed/
// The base of a delta is a tree of the tip, which the server has.
const NOT_THIN = /unresolved deltas?|missing delta base/i

function judgeReport(
  { ref, unpackError, progress }: PushReport,
  { tip, isRepeated }: Basis,
  context: ErrorContext,
): Pushed {
  if (ref === 'ok' && unpackError === undefined) return { kind: 'landed' }
  const reason = typeof ref === 'object' ? ref.refused : 'unpacker error'
  if (tip.remembered && (unpackError !== undefined || LACKING.test(reason))) return { kind: 'race' }
  // Where nothing is stored, no hook has printed anything.
  if (unpackError !== undefined && NOT_THIN.test(progress)) throw new Error('it does not take thin packs')
  const lines = progress.split(/[\r\n]+/).map((line) => line.trimEnd())
  const remote = lines.filter((line) => line !== '').join('\n')
  return judgeRefusal({ reason, remote, unpack: unpackError ?? '' }, context, isRepeated)
}
