import { movedMeanwhile } from '../branch.ts'
import type { ObjectId } from '../objects/object.ts'
import type { Blobs, Tip } from '../remote.ts'
import { fetchObjects, isTooLarge, type DirectSession } from './session.ts'

/** Which files to read. */
export interface WantedBlobs {
  readonly oids: readonly ObjectId[]
  /** Bytes of the largest one that is wanted. */
  readonly most: number
}

/**
 * Reads files by their names in the tree of the tip: one request for those that this session has not read yet. Protocol
 * version 2 lets a client want any object that it knows by name (gitprotocol-v2(5)), as clones without files do. A file
 * of more than `most` bytes is left out; where there is one, the others are requested one by one.
 * @throws Failure for an error of the remote; an Error that is no Failure where the git binary has to do it
 */
export async function readBlobs(
  session: DirectSession,
  { branch }: Pick<Tip, 'branch'>,
  { oids, most }: WantedBlobs,
): Promise<Blobs> {
  const { objects, tips, context } = session
  const wants = [...new Set(oids)].filter((id) => objects.get(id) === undefined)
  const large = wants.length === 0 ? [] : await fetchBlobs(session, wants, most)
  if (large === 'moved') {
    tips.forget(branch)
    throw movedMeanwhile(context.url)
  }
  const blobs = oids.filter((id) => !large.includes(id)).map((id) => [id, objects.get(id)] as const)
  if (blobs.some(([, blob]) => blob?.kind !== 'blob')) throw new Error('a fetch does not bring all files')
  return new Map(
    blobs.flatMap(([id, blob]) =>
      blob === undefined || blob.body.length > most ? [] : [[id, blob.body] as const],
    ),
  )
}

/** Returns those that are too large. */
async function fetchBlobs(
  session: DirectSession,
  wants: readonly ObjectId[],
  most: number,
): Promise<readonly ObjectId[] | 'moved'> {
  try {
    const fetched = await fetchObjects(session, { wants }, { inflated: wants.length * most })
    return fetched === 'moved' ? fetched : []
  } catch (error) {
    if (!isTooLarge(error)) throw error
  }
  if (wants.length === 1) return wants
  const large: ObjectId[] = []
  for (const want of wants) {
    const one = await fetchBlobs(session, [want], most)
    if (one === 'moved') return one
    large.push(...one)
  }
  return large
}
