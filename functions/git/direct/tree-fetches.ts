import { Failure } from '../../domain/failure.ts'
import type { ObjectId } from '../objects/object.ts'
import type { FetchRequest } from '../protocol/fetch.ts'
import { isBusy } from './memory.ts'
import { isOfBranch } from './of-branch.ts'
import { fetchObjects, type DirectSession, type FetchedObjects, type NoObjects } from './session.ts'

/**
 * What comes in one answer: all trees of some 50,000 files. Whoever may commit can add 5,000 directories with a small change, and
 * each session that does not remember them would fetch and hold them all.
 */
export const FEW = { most: 4 * 1024 * 1024, objects: 8_192 } as const
/** Wants of one fetch. */
const MOST_WANTS = 1_000

/** Fetches what brings commits, with all of their trees unless these are too many: then readTree fetches those that it needs. */
export async function fetchWithTrees(
  session: DirectSession,
  request: Pick<FetchRequest, 'wants' | 'haves' | 'depth'>,
): Promise<FetchedObjects | NoObjects> {
  const way = session.way.get()
  if (way === 'needed') return fetchObjects(session, { ...request, filter: 'tree:0' })
  const whole = { ...request, filter: 'blob:none' } as const
  if (way === 'all only') return fetchObjects(session, whole)
  return fetchObjects(session, whole, FEW).catch((error: unknown) => {
    if (error instanceof Failure || !(isOfBranch(error) || isBusy(error))) throw error
    session.way.set('needed')
    return fetchObjects(session, { ...request, filter: 'tree:0' })
  })
}

/**
 * Fetches trees by their names, without those below them. False: they do not come so, and the way is another one now.
 * @throws Failure for an error of the remote; an Error that is no Failure where the git binary has to do it
 */
export async function fetchTrees(session: DirectSession, ids: readonly ObjectId[]): Promise<boolean> {
  if (session.way.get() !== 'needed') return false
  for (let at = 0; at < ids.length; at += MOST_WANTS) {
    const wants = ids.slice(at, at + MOST_WANTS)
    const fetched = await fetchObjects(session, { wants, filter: 'tree:0' }).catch((error: unknown) => {
      if (error instanceof Failure || isBusy(error)) throw error
      // Only those need the git binary who need this directory.
      if (isOfBranch(error)) throw new Error('a directory cannot be read here', { cause: error })
      return undefined
    })
    if (fetched !== undefined && wants.every((id) => session.objects.get(id)?.kind === 'tree')) continue
    session.way.set('all only')
    return false
  }
  return true
}
