import type { Change } from '../../domain/commit/change.ts'
import { asFailure, Failure } from '../../domain/failure.ts'
import { movedMeanwhile } from '../branch.ts'
import type { NewFile, RemovedFile, Remote, Tip } from '../remote.ts'
import type { Tree } from '../tree.ts'
import { readHeld } from './plan-batch.ts'
import { planChange } from './plan-change.ts'

/** What a change would do to its branch, as the branch is now. */
export interface Preview {
  /** Short name. */
  readonly branch: string
  /** Full name of the commit that it would be built on; undefined: there is none, as in an empty repository. */
  readonly tip: string | undefined
  /** Whether the branch exists; a missing one would be made. */
  readonly exists: boolean
  /** The files that the commit would change, none if the branch holds all of it; or why it cannot be made there. */
  readonly files: readonly PreviewedFile[] | Failure
  /** Why the remote lets this login not push; undefined: it does. */
  readonly refusal: Failure | undefined
}

/** A file before and after the commit; undefined: it is not there. */
export interface PreviewedFile {
  readonly path: string
  readonly before: Uint8Array | undefined
  readonly after: Uint8Array | undefined
}

/** Larger files of the branch are not read for a preview. */
const BEFORE_BYTES = 10 * 1024 * 1024
/** A branch that moves each time that it is read is very busy. */
const TRIES = 3

/**
 * Reads the branch and plans the change on it as a push does, and asks whether this login may push. Writes nothing.
 * @throws Failure for an error of the remote before it has shown the branch; Conflict if the branch moves all the time
 */
export async function preview(remote: Remote, change: Change): Promise<Preview> {
  const tip = await readNow(remote, change.branch)
  const held = await readHeld(remote, tip, change.files)
  const planned = await planChange(held, change)
  const files =
    'failure' in planned
      ? planned.failure
      : await withContents(remote, { tip, tree: held.tree }, planned.files)
  const refusal = await remote.askToPush(tip).catch(refusalOf)
  return { branch: tip.branch, tip: tip.commit, exists: tip.exists, files, refusal: refusal ?? undefined }
}

async function readNow(remote: Remote, branch: string | undefined): Promise<Tip> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const tip = await remote.readTip({ branch, fresh: true })
    if (tip !== 'moved') return tip
  }
  throw movedMeanwhile(remote.url)
}

async function withContents(
  remote: Remote,
  { tip, tree }: { readonly tip: Tip; readonly tree: Tree },
  files: readonly (NewFile | RemovedFile)[],
): Promise<readonly PreviewedFile[] | Failure> {
  const oids = files.flatMap(({ path }) => tree.get(path)?.oid ?? [])
  if (oids.length === 0)
    return files.map(({ path, content }) => ({ path, before: undefined, after: content }))
  const blobs = await remote.readBlobs(tip, [...new Set(oids)], BEFORE_BYTES).catch(asFailure)
  if (blobs instanceof Failure) return blobs
  return files.map(({ path, content }) => ({
    path,
    before: blobs.get(tree.get(path)?.oid ?? ''),
    after: content,
  }))
}

function refusalOf(error: unknown): Failure {
  if (error instanceof Failure) return error
  throw error
}
