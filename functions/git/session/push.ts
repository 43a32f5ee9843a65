import { Failure } from '../../domain/failure.ts'
import type { Pushed, Tip } from '../remote.ts'
import { readRemoteTip } from './fetch.ts'
import { readGitOutput, type GitOutput } from '../output/git-output.ts'
import type { Session } from './session.ts'
import { movedFailure } from '../output/moved.ts'
import { rejection } from '../output/classify.ts'
import type { ErrorContext } from '../output/error-table.ts'
import { judgeByTip, judgeRefusal, refuse, unreported, type Push } from '../output/push-verdict.ts'
import type { OnlineResult } from './transport.ts'

/** Implements `push` of the port: the lease is the compare-and-swap, and `head` descends from the tip. */
export async function pushOnce(session: Session, tip: Tip, head: string): Promise<Pushed> {
  const ref = `refs/heads/${tip.branch}`
  const lease = tip.exists ? (tip.commit ?? '') : ''
  const result = await session.online([
    'push',
    '--porcelain',
    '--no-verify',
    `--force-with-lease=${ref}:${lease}`,
    '--',
    session.url,
    `${head}:${ref}`,
  ])
  if (result.moved !== undefined) return refuse(movedFailure(result.moved, session.context, 'push'))
  if (result.meaning === undefined) return { kind: 'landed' }
  const output = readGitOutput(result.ended)
  const now = (): Promise<string | undefined> => readRemoteTip(session, tip.branch)
  if (output.unreported) return judgeByTip(now, { tip, head }, unreported(session.context))
  const judged = judgeRef(output, session)
  if (judged === undefined) return judgeBreak(result, { tip, head }, now)
  // curl repeats a request when the connection breaks before an answer: the server may have rejected the second
  // request after it had already accepted the first.
  return output.posts > 1 ? judgeByTip(now, { tip, head }, judged) : judged
}

function judgeRef(output: GitOutput, { context }: Session): Pushed | undefined {
  if (output.rejected !== undefined) return judgeOwn(output.rejected, context)
  const { remoteRejected: reason, remote, own } = output
  return reason === undefined ? undefined : judgeRefusal({ reason, remote, unpack: own }, context)
}

function judgeOwn(reason: string, context: ErrorContext): Pushed {
  if (/stale info|fetch first|non-fast-forward|needs force/.test(reason)) return { kind: 'race' }
  return { kind: 'refused', failure: rejection(reason, context), each: false }
}

async function judgeBreak(
  { meaning, undelivered }: OnlineResult,
  push: Push,
  now: () => Promise<string | undefined>,
): Promise<Pushed> {
  if (!(meaning instanceof Failure)) return { kind: 'race' }
  if (undelivered) return refuse(meaning)
  if (meaning.reason === 'PushRejected') return { kind: 'refused', failure: meaning, each: true }
  return judgeByTip(now, push, refuse(meaning))
}
