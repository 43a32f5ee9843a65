import { Failure } from '../../domain/failure.ts'
import type { Pushed, Tip, Unlanded } from '../remote.ts'
import { outage, rejection } from './classify.ts'
import type { ErrorContext } from './error-table.ts'

/** How the server refused the update of the ref. */
export interface RefusedUpdate {
  /** Its reason, as in its report. */
  readonly reason: string
  /** What it and its hooks print, one line after the other. */
  readonly remote: string
  /** Why it could not store the commits, if it says so. */
  readonly unpack: string
}

/** A push: from where, and to which commit. */
export interface Push {
  readonly tip: Tip
  readonly head: string
}

/** What a refusal by the server means. */
export function judgeRefusal({ reason, remote, unpack }: RefusedUpdate, context: ErrorContext): Unlanded {
  const words = `${reason}\n${remote}`
  if (/\.lock': File exists/.test(words))
    return refuse(unavailable(context, 'holds a stale lock on the branch'))
  if (/' exists; cannot create|refname conflict/.test(words)) return refuse(nameCollision(context))
  if (RACES.some((race) => race.test(words))) return { kind: 'race' }
  const failed = outage(words, context)
  if (failed !== undefined) return refuse(failed)
  if (/unpacker error|unable to migrate objects/.test(reason) && DISK.test(`${unpack}\n${words}`))
    return refuse(unavailable(context, 'cannot store the commit (disk or file rights of the server)'))
  const remoteWords = remote.replace(/^error: hook declined to update .*$/m, '').trim()
  const failure = rejection(remoteWords === '' ? reason : remoteWords, context)
  // A race or a final refusal: only the tip can show which.
  if (reason === 'failed to update ref') return { kind: 'race', unless: failure }
  if (NO_RIGHT.test(words)) return refuse(denied(context))
  return { kind: 'refused', failure, each: !BRANCH.test(words) }
}

/** The server carried out the request, but does not say whether the ref has moved. */
export function unreported(context: ErrorContext): Unlanded {
  return refuse(unavailable(context, 'does not report whether it accepted the commit'))
}

/**
 * What became of a push without a usable answer, by where the branch is now; `otherwise` if it has not moved. Where that
 * cannot be read, a failure is the one that there was before.
 */
export async function judgeByTip(
  readTip: () => Promise<string | undefined>,
  { tip, head }: Push,
  otherwise: Unlanded,
): Promise<Pushed> {
  const now = await readTip().catch(() => 'unreadable')
  if (now === head) return { kind: 'landed' }
  const before = tip.exists ? tip.commit : undefined
  if (now === before || (now === 'unreadable' && otherwise.kind === 'refused'))
    return { ...otherwise, late: true }
  return { kind: 'unknown' }
}

/** The push is refused, and would be for other commits. */
export function refuse(failure: Failure): Unlanded {
  return { kind: 'refused', failure, each: false }
}

const RACES = [
  /is at [0-9a-f]+ but expected/,
  /reference already exists/,
  /incorrect old value provided/,
  /reference not found/,
  // The branch that was read is deleted.
  /unable to resolve reference/,
]
const DISK =
  /unable to (create|write|migrate)|No space left|Permission denied|insufficient permission|Read-only file system/
const NO_RIGHT = /User permission denied for writing/
// A refusal because of the branch or the repository: it holds for every commit of the batch.
const BRANCH = /protected branch|shallow update not allowed|archived|read.only|deny updating a hidden ref/i

function unavailable({ url }: ErrorContext, what: string): Failure {
  return new Failure(
    'ProviderUnavailable',
    `${url} ${what}; Commitlet retries automatically, and the administrator of the server should check it.`,
  )
}

function nameCollision({ url }: ErrorContext): Failure {
  return new Failure(
    'PushRejected',
    `${url} cannot have this branch, because its name and the name of another branch collide (one is the beginning of the other); choose another name in spec.branch.`,
  )
}

function denied({ url }: ErrorContext): Failure {
  return new Failure(
    'PermissionDenied',
    `${url} knows the user but does not permit them to write; give the user or the token write access.`,
  )
}
