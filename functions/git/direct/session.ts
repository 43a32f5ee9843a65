import { Failure } from '../../domain/failure.ts'
import type { GitObject, ObjectId } from '../objects/object.ts'
import { createPace } from '../objects/pace.ts'
import { declaredCount, readPack } from '../objects/pack-reader.ts'
import { failureOf, unknownError } from '../output/classify.ts'
import { OUTAGE } from '../output/error-table.ts'
import { BROKEN_OFF, NOTHING_NEWER, type ErrorContext } from '../output/error-meaning.ts'
import { movedFailure, readMoved } from '../output/moved.ts'
import { stopIfAborted } from '../process/launcher.ts'
import { fetchCommand, readFetched, type FetchRequest } from '../protocol/fetch.ts'
import { lsRefsCommand, readListedRefs, type ListedRefs } from '../protocol/ls-refs.ts'
import { isProtocolError } from '../protocol/protocol-error.ts'
import { shortRefs } from '../protocol/short-refs.ts'
import { holdOf, isBusy, OBJECT_BYTES, type Objects, type Share } from './memory.ts'
import type { RememberedTips } from './remembered-tips.ts'
import type { RememberedWay } from './tree-ways.ts'
import { turnToRead, type Channel } from './channels/channel.ts'
import { ofBranch } from './of-branch.ts'

/** A session with one repository. */
export interface DirectSession {
  readonly channel: Channel
  readonly context: ErrorContext
  readonly signal: AbortSignal
  readonly objects: Objects
  readonly share: Share
  readonly tips: RememberedTips
  readonly way: RememberedWay
}

/** What is kept of the refs that begin with a name; the git binary reads more. */
const REFS_BYTES = 4 * 1024 * 1024

/** The trees of a repository of 300,000 files have some 8 MiB in a pack; larger ones are for the git binary. */
const FETCH_BYTES = 16 * 1024 * 1024
const OBJECTS_BYTES = 32 * 1024 * 1024
const OBJECTS = 65_536
/** Trees are mostly bytes that cannot be compressed. */
const INFLATION = 6
/** Long names can be: 3,000 have 750 KB, and next to nothing in a pack. So much is read of any pack, and counts as it is read. */
const ANY_INFLATION_BYTES = 8 * 1024 * 1024
const DELTA_DEPTH = 4095

/**
 * The refs of these full names, and whether there are any that begin with one of them; `unborn`: and where a HEAD without a
 * commit points, of a server that tells it.
 * @throws as explained
 */
export async function listRefs(
  session: DirectSession,
  names: readonly string[],
  unborn = false,
): Promise<ListedRefs> {
  const { channel, context } = session
  const question = {
    command: lsRefsCommand(names, unborn),
    most: REFS_BYTES,
    shorten: shortRefs(names, session.share.allowLong),
    about: 'refs',
  } as const
  try {
    return await channel.ask(question, async (answer) => {
      await turnToRead(session.share, answer)
      return readListedRefs(answer, names)
    })
  } catch (error) {
    if (isProtocolError(error, 'REMOTE') && NOT_KNOWN.test(error.message))
      throw new Error('it does not know the command')
    throw explained(error, context)
  }
}

/** JGit repeats a line that it does not expect: that of version 2, where it, or a proxy before it, knows version 0 alone. */
const NOT_KNOWN = /\bcommand=ls-refs\b/

/** What a fetch may bring. */
export interface FetchBounds {
  /** Bytes of the answer. */
  readonly most?: number
  readonly objects?: number
  /** Bytes that the objects may have; left out: what trees have in a pack of this size. */
  readonly inflated?: number
}

/** What a fetch has brought. */
export interface FetchedObjects {
  readonly objects: ReadonlyMap<ObjectId, GitObject>
  /** Commits whose parents were not sent. */
  readonly shallow: readonly ObjectId[]
}

/** Why a fetch has brought none. */
export type NoObjects = 'moved' | 'nothing newer' | 'no pack'

/**
 * Fetches, and keeps the objects. `moved`: the server does not have what was asked for any more. `nothing newer`: it says that no commit
 * is as new as the date. `no pack`: it ended without one, as upload-pack does then, or because the answer broke off.
 * @throws as explained; what isTooLarge knows for more than that, and isBusy where too little memory is left
 */
export async function fetchObjects(
  session: DirectSession,
  request: FetchRequest,
  bounds: FetchBounds = {},
): Promise<FetchedObjects | NoObjects> {
  const { channel, context } = session
  const question = {
    command: fetchCommand(request),
    most: bounds.most ?? FETCH_BYTES,
    about: 'objects',
  } as const
  try {
    return await channel.ask(question, async (answer) => {
      await turnToRead(session.share, answer)
      const fetched = readFetched(answer)
      if (fetched === 'no pack' && request.depth instanceof Date) return fetched
      if (fetched === 'no pack') throw failureOf(BROKEN_OFF, context)
      const { shallow, pack, progress } = fetched
      const moved = readMoved(progress, context)
      if (moved !== undefined) throw movedFailure(moved, context, 'reading')
      return session.share.inTurn(async () => {
        const objects = await unpack(session, pack, bounds)
        await session.objects.keep(objects, createPace(session.signal, session.share.namespace))
        return { shallow, objects: new Map(objects.map((object) => [object.id, object])) }
      })
    })
  } catch (error) {
    if (!isProtocolError(error, 'REMOTE')) throw explained(error, context)
    if (NOT_THERE.test(error.message)) return 'moved'
    if (request.depth instanceof Date && NOTHING_NEWER.test(error.message)) return 'nothing newer'
    if (OUTAGE.pattern.test(error.message)) throw failureOf(OUTAGE, context)
    // Nobody has asked what it can: JGit answers so where filters are not allowed, and the git binary uses none there.
    throw new Error('it refuses a fetch, perhaps one of this form')
  }
}

const NOT_THERE = /^upload-pack: not our ref/m

/** Whether a fetch has failed because its objects take too much memory. */
export function isTooLarge(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof Failure && cause.reason === 'NotSupported'
}

async function unpack(
  { objects, share, signal }: DirectSession,
  pack: Buffer,
  { objects: most = OBJECTS, inflated = Math.max(pack.length * INFLATION, ANY_INFLATION_BYTES) }: FetchBounds,
): Promise<readonly GitObject[]> {
  const totalBytes = Math.min(OBJECTS_BYTES, inflated)
  const count = Math.min(most, declaredCount(pack))
  const hold = holdOf(share.take)
  const limits = {
    packBytes: FETCH_BYTES,
    objects: most,
    objectBytes: totalBytes,
    totalBytes,
    deltaDepth: DELTA_DEPTH,
  }
  const base = (id: ObjectId): GitObject | undefined => objects.get(id)
  try {
    hold.more(pack.length + count * OBJECT_BYTES)
    return await readPack(pack, { limits, base, take: hold.more, signal, owner: share.namespace })
  } catch (cause) {
    stopIfAborted(signal)
    if (isBusy(cause)) throw cause
    // Its Failures do not name the repository, and the git binary may be able to read more.
    throw ofBranch('its pack cannot be read here', cause)
  } finally {
    hold.release()
  }
}

/**
 * The Failure for an answer that broke off, or in which the server reports an error, in the sentences of `output/`.
 * Every other error as it is: one that is no Failure means that this engine cannot go on, and that the git binary may.
 */
export function explained(error: unknown, context: ErrorContext): unknown {
  if (isProtocolError(error, 'TRUNCATED')) return failureOf(BROKEN_OFF, context)
  if (!isProtocolError(error, 'REMOTE')) return error
  return unknownError(error.message, 'reading', context)
}

/**
 * What `read` tells of a commit of the remote. Where it breaks Git's rules, the git binary has to say so: the Failures of
 * `objects/` do not name the repository.
 */
export function understood<T>(commit: Buffer, read: (commit: Buffer) => T): T {
  try {
    return read(commit)
  } catch (cause) {
    throw ofBranch('a commit cannot be read here', cause)
  }
}
