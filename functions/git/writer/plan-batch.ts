import { EDITED_BYTES, type FileChange } from '../../domain/commit/change.ts'
import { asFailure, Failure } from '../../domain/failure.ts'
import type { Blobs, Remote, Tip } from '../remote.ts'
import type { Tree, TreeEntry } from '../tree.ts'
import { SHARED_EDITS_MS } from './edit-patience.ts'
import type { PendingChange, Settled } from './pending-change.ts'
import type { Held } from './plan-change.ts'
import { planSteps, type Step } from './plan.ts'

/** What becomes of each change of a batch on this tip, and what has ended before anything is written. */
export interface Plan {
  readonly steps: readonly PlannedStep[]
  readonly settled: Settled
  /** Why no file could be read whose fields are changed; it has ended the changes that do so. */
  readonly unread: Failure | undefined
  /** What the tip holds at the paths of each change. */
  readonly seen: Seen
  /** Changes that are in no step: their edits take longer than the batch waits for. */
  readonly slow: readonly PendingChange[]
  /** It took long to read the files whose fields are changed. */
  readonly isReadSlowly: boolean
}

/** Names of what was found at the paths of changes; equal where nothing has changed there. */
export type Seen = ReadonlyMap<PendingChange, string>

/** What was found at paths that were not read. */
export const UNKNOWN = ''

/** Files that are edited take a push no longer to read, unless there are many or large ones. */
const SLOW_READ_MS = 2_000

/** A step for one change of a batch. */
export type PlannedStep = Step<PendingChange>

/**
 * Reads what the tip holds at the paths of the batch, and plans its commits. A change in conflict with it has ended.
 * `isShared`: the batch waits a moment only for the edits of each namespace.
 */
export async function planCommits(
  remote: Remote,
  tip: Tip,
  { batch, isShared }: { readonly batch: readonly PendingChange[]; readonly isShared: boolean },
): Promise<Plan> {
  const files = batch.flatMap(({ change }) => change.files)
  const held = await readHeld(remote, tip, files)
  const { signal } = remote
  const all = await planSteps(held, batch, { signal, patienceMs: isShared ? SHARED_EDITS_MS : Infinity })
  const steps = all.filter(({ kind }) => kind !== 'slow')
  const slow = all.flatMap(({ kind, of }) => (kind === 'slow' ? [of] : []))
  const seen = new Map(batch.map((pending) => [pending, found(held.tree, pending)]))
  // A conflict with another change of the batch counts when that one has landed.
  const settled = conflictsIn(steps, { early: false })
  return { steps, settled, unread: held.unread, seen, slow, isReadSlowly: held.readMs > SLOW_READ_MS }
}

/**
 * What the tip holds at the paths of these files, with the contents of those that are edited, and how long it took to read
 * these.
 */
export async function readHeld(
  remote: Remote,
  tip: Tip,
  files: readonly FileChange[],
): Promise<Held & Pick<Plan, 'unread'> & { readonly readMs: number }> {
  const tree = await remote.readTree(
    tip,
    files.map(({ path }) => path),
  )
  const edited = files.flatMap(({ path, edit }) => (edit === undefined ? [] : (tree.get(path) ?? [])))
  const began = performance.now()
  const blobs = await readFiles(remote, tip, edited)
  const readMs = performance.now() - began
  if (blobs instanceof Failure) return { tree, read: () => blobs, unread: blobs, readMs }
  return { tree, read: (oid) => blobs.get(oid), unread: undefined, readMs }
}

/** The files among these entries of the tip, read together. */
async function readFiles(remote: Remote, tip: Tip, entries: readonly TreeEntry[]): Promise<Blobs | Failure> {
  const oids = entries.filter(({ mode }) => mode.startsWith('100')).map(({ oid }) => oid)
  if (oids.length === 0) return new Map()
  return remote.readBlobs(tip, [...new Set(oids)], EDITED_BYTES).catch(asFailure)
}

/** Whether each change needs a commit on this tip, and nothing else is said about it. */
export function isCommitsOnly({ steps }: Plan): boolean {
  return steps.every(({ kind }) => kind === 'edit')
}

/** The changes that end in conflict: with the tip, or, `early`, only with changes before them in the batch. */
export function conflictsIn(steps: readonly PlannedStep[], { early }: { readonly early: boolean }): Settled {
  return new Map(
    steps.flatMap((step) =>
      step.kind === 'conflict' && step.early === early ? [[step.of, step.failure] as const] : [],
    ),
  )
}

function found(tree: Tree, { change }: PendingChange): string {
  return JSON.stringify(change.files.map(({ path }) => tree.get(path) ?? null))
}
