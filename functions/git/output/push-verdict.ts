import { Failure } from '../../domain/failure.ts'
import type { Pushed, Tip, Unlanded } from '../remote.ts'
import { failureOf, rejection } from './classify.ts'
import { OUTAGE, TIMED_OUT } from './error-table.ts'
import type { ErrorContext } from './error-meaning.ts'
import { firstOwn, type IsRepeated } from './repeated-words.ts'

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

/**
 * What a refusal by the server means. Its hooks print before and beside it, and hosts and hooks repeat what users choose:
 * words count only where the server itself can have said them.
 */
export function judgeRefusal(
  { reason, remote, unpack }: RefusedUpdate,
  context: ErrorContext,
  isRepeated: IsRepeated,
): Unlanded {
  const words = `${reason}\n${remote}`
  const says = (text: string, pattern: RegExp): boolean => firstOwn(text, pattern, isRepeated) !== undefined
  // Where a hook has declined the update, or nothing is stored, the server has not come to the ref.
  const ofRef = /declined|unpacker error/.test(reason) ? reason : words
  if (says(ofRef, LOCKED))
    return refuseInWords(unavailable(context, 'keeps its branches locked, for another push perhaps'))
  if (says(ofRef, STALE_LOCK)) return refuseInWords(unavailable(context, 'holds a stale lock on the branch'))
  if (says(ofRef, COLLISION)) return refuseInWords(nameCollision(context))
  if (says(ofRef, RACE)) return { kind: 'race' }
  if (says(words, OUTAGE.pattern)) return refuseInWords(failureOf(OUTAGE, context))
  // Fewer of them may take less.
  if (says(words, TIMED_OUT.pattern))
    return { kind: 'refused', failure: failureOf(TIMED_OUT, context), each: true, said: true }
  const isUnstored = /unpacker error|unable to migrate objects/.test(reason)
  const isOfHook = /hook declined/.test(reason)
  if ((isUnstored && says(`${unpack}\n${words}`, DISK)) || (isOfHook && says(words, SPENT)))
    return refuseInWords(
      unavailable(context, 'cannot store the commit (disk, memory or file rights of the server)'),
    )
  const remoteWords = remote.replace(/^error: hook declined to update .*$/m, '').trim()
  const told = [SAYS_NOTHING.test(reason) && remoteWords !== '' ? '' : reason, remoteWords]
  const final = rejection(told.filter((text) => text !== '').join('\n'), context)
  // The server could not do it, and may later: nothing says that it does not take the commit.
  const isUnable =
    LOST.test(reason) || NOT_MOVED.test(reason) || ((isUnstored || isOfHook) && remoteWords === '')
  const failure = isUnable ? new Failure(final.reason, final.message, { retry: 'slow' }) : final
  // A race or a refusal: only the tip can show which.
  if (NOT_MOVED.test(reason)) return { kind: 'race', unless: failure }
  if (says(words, NO_RIGHT)) return refuseInWords(denied(context))
  return { kind: 'refused', failure, each: !says(words, BRANCH), said: true }
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

/** The same, but only words say so, which a hook may have repeated of some of the commits. */
export function refuseInWords(failure: Failure): Unlanded {
  return { kind: 'refused', failure, each: false, said: true }
}

// Git with reftable: all branches of a repository have one lock.
const LOCKED = /cannot lock references|data is locked|data concurrently modified/
const STALE_LOCK = /\.lock': File exists/
const COLLISION = /' exists; cannot create|refname conflict|reference conflict due to case/
// From the fourth on, the branch that was read is deleted: Git says so in different words, by its version and how it stores refs.
const RACE =
  /is at [0-9a-f]+ but expected|reference already exists|incorrect old value provided|reference not found|unable to resolve reference|reference does not exist|reference is missing but expected/
/**
 * Reasons of Git and of large hosts that only say that there are words beside them. Others are in the report alone: beside them,
 * Azure DevOps and Gerrit print how far they are.
 */
const SAYS_NOTHING = /declined|^(?:failed to update ref|failed to lock|unpacker error|failure)$/
// Git, JGit and Azure DevOps.
const NOT_MOVED = /^(?:failed to update ref|failed to lock)$|^TF401028\b/
// Git took the commits, and then could not find them.
const LOST = /^bad pack$/
// What the C library, shells and Git say in a hook that cannot go on: about the server, and not about the commit.
const SPENT =
  /: (?:No space left on device|Read-only file system|Cannot allocate memory|Resource temporarily unavailable|Too many open files)$|^fatal: Out of memory|^error: \S+ died of signal \d+$/m
const DISK =
  /unable to (create|write|migrate)|No space left|Permission denied|insufficient permission|Read-only file system/
const NO_RIGHT = /^(?:(?:error|Gitea|Forgejo): )?(?<own>User permission denied for writing)/m
// A refusal because of the branch or the repository: it holds for every commit of the batch.
// GitHub says so in its list of rules (GH013), Bitbucket Cloud in a line, Azure DevOps in the reason. Where the rules of GitLab for
// a protected branch are about files (CODEOWNERS), and where a hook has a folder that is read-only, other commits may pass.
const PLACE = '(?:repository|repo|project|instance|server|mirror|branch)'
const BRANCH = new RegExp(
  [
    'protected branch(?!es that contain changes)',
    'shallow update not allowed|deny updating a hidden ref|TF402455|TF401027|^Permission denied to update branch',
    String.raw`\b${PLACE}(?: ['"\`][^'"\`\n]{1,300}['"\`])? (?:is|was|has been)(?: \w{1,20}){0,2} (?:archived|read.only)`,
    String.raw`\b(?:an?|this|the) (?:archived|read.only) (?:\w{1,20} )?${PLACE}\b`,
    String.raw`^- (?:Changes must be made through a pull request|Cannot update this protected ref|Required status check|\d+ of \d+ required status checks)`,
  ].join('|'),
  'im',
)

function unavailable({ url }: ErrorContext, what: string): Failure {
  return new Failure(
    'ProviderUnavailable',
    `${url} ${what}; Commitlet retries automatically, and the administrator of the server should check it.`,
  )
}

function nameCollision({ url }: ErrorContext): Failure {
  return new Failure(
    'PushRejected',
    `${url} cannot have this branch, because its name and the name of another branch collide (one is the beginning of the other, or they differ only in capitals); choose another name in spec.branch.`,
    // Somebody else may have made the other one, and delete it.
    { retry: 'slow' },
  )
}

function denied({ url }: ErrorContext): Failure {
  return new Failure(
    'PermissionDenied',
    `${url} knows the user but does not permit them to write; give the user or the token write access.`,
  )
}
