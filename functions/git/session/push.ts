import { Failure } from '../../domain/failure.ts'
import type { Pushed, Tip } from '../remote.ts'
import { readRemoteTip } from './fetch.ts'
import { readGitOutput, type GitOutput } from '../output/git-output.ts'
import type { Session } from './session.ts'
import { movedFailure } from '../output/moved.ts'
import { outage, rejection } from '../output/classify.ts'
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
  if (output.unreported)
    return judgeByTip(
      session,
      { tip, head },
      refuse(unavailable(session, 'does not report whether it accepted the commit')),
    )
  const judged = judgeRef(output, session)
  if (judged === undefined) return judgeBreak(session, { tip, head, result })
  // curl repeats a request when the connection breaks before an answer: the server may have rejected the second
  // request after it had already accepted the first.
  return output.posts > 1 ? judgeByTip(session, { tip, head }, judged) : judged
}

function judgeRef(output: GitOutput, session: Session): Pushed | undefined {
  if (output.rejected !== undefined) return judgeOwn(output.rejected, session)
  const reason = output.remoteRejected
  if (reason === undefined) return undefined
  const words = `${reason}\n${output.remote}`
  if (/\.lock': File exists/.test(words))
    return refuse(unavailable(session, 'holds a stale lock on the branch'))
  if (/' exists; cannot create|refname conflict/.test(words)) return refuse(nameCollision(session))
  if (RACES.some((race) => race.test(words))) return { kind: 'race' }
  const failed = outage(words, session.context)
  if (failed !== undefined) return refuse(failed)
  if (/unpacker error|unable to migrate objects/.test(reason) && DISK.test(`${output.own}\n${words}`))
    return refuse(unavailable(session, 'cannot store the commit (disk or file rights of the server)'))
  const remoteWords = output.remote.replace(/^error: hook declined to update .*$/m, '').trim()
  const failure = rejection(remoteWords === '' ? reason : remoteWords, session.context)
  // A race or a final refusal: only the tip can show which.
  if (reason === 'failed to update ref') return { kind: 'race', unless: failure }
  if (NO_RIGHT.test(words)) return refuse(denied(session))
  return { kind: 'refused', failure, each: !BRANCH.test(words) }
}

const RACES = [
  /is at [0-9a-f]+ but expected/,
  /reference already exists/,
  /incorrect old value provided/,
  /reference not found/,
]
const DISK =
  /unable to (create|write|migrate)|No space left|Permission denied|insufficient permission|Read-only file system/
const NO_RIGHT = /User permission denied for writing/
// A refusal because of the branch or the repository: it holds for every commit of the batch.
const BRANCH = /protected branch|shallow update not allowed|archived|read.only|deny updating a hidden ref/i

function judgeOwn(reason: string, session: Session): Pushed {
  if (/stale info|fetch first|non-fast-forward|needs force/.test(reason)) return { kind: 'race' }
  return { kind: 'refused', failure: rejection(reason, session.context), each: false }
}

async function judgeBreak(session: Session, push: Push & { readonly result: OnlineResult }): Promise<Pushed> {
  const { tip, head, result } = push
  const { meaning } = result
  if (!(meaning instanceof Failure)) return { kind: 'race' }
  if (result.undelivered) return refuse(meaning)
  if (meaning.reason === 'PushRejected') return { kind: 'refused', failure: meaning, each: true }
  return judgeByTip(session, { tip, head }, refuse(meaning))
}

interface Push {
  readonly tip: Tip
  readonly head: string
}

async function judgeByTip(session: Session, { tip, head }: Push, otherwise: Pushed): Promise<Pushed> {
  const now = await readRemoteTip(session, tip.branch).catch(() => 'unreadable')
  if (now === head) return { kind: 'landed' }
  const before = tip.exists ? tip.commit : undefined
  if (now === before) return otherwise
  return now === 'unreadable' && otherwise.kind === 'refused' ? otherwise : { kind: 'unknown' }
}

function refuse(failure: Failure): Pushed {
  return { kind: 'refused', failure, each: false }
}

function unavailable({ context }: Session, what: string): Failure {
  return new Failure(
    'ProviderUnavailable',
    `${context.url} ${what}; Commitlet retries automatically, and the administrator of the server should check it.`,
  )
}

function nameCollision({ context }: Session): Failure {
  return new Failure(
    'PushRejected',
    `${context.url} cannot have this branch, because its name and the name of another branch collide (one is the beginning of the other); choose another name in spec.branch.`,
  )
}

function denied({ context }: Session): Failure {
  return new Failure(
    'PermissionDenied',
    `${context.url} knows the user but does not permit them to write; give the user or the token write access.`,
  )
}
