import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Change } from '../../domain/commit/change.ts'
import { unlessAborted } from '../../domain/deadline.ts'
import type { Failure } from '../../domain/failure.ts'
import type { NewFile, RemovedFile } from '../remote.ts'
import { pathsTo } from '../tree.ts'
import { waitForEdits } from './edit-patience.ts'
import { openEditRoom } from './edit-room.ts'
import { planChange, type Held, type Obstacle, type PlannedChange, type Unplanned } from './plan-change.ts'

/** What one change needs on top of the tip and of the changes before it. */
export type Step<C> =
  /** One commit of these files, which are those that differ; an existing file keeps its mode. */
  | { readonly kind: 'edit'; readonly of: C; readonly files: readonly (NewFile | RemovedFile)[] }
  /** All of it is already there. */
  | { readonly kind: 'unchanged'; readonly of: C }
  /** `early`: it conflicts only with changes before it in the batch. */
  | { readonly kind: 'conflict'; readonly of: C; readonly failure: Failure; readonly early: boolean }
  /**
   * Something is in its way that may be gone after a change before it; or its edits, or those of a change before it at one of its
   * paths, are for the next push.
   */
  | { readonly kind: 'later'; readonly of: C }
  /** Its edits, or those of its namespace, take longer than the batch waits for. */
  | { readonly kind: 'slow'; readonly of: C }

/** For how long it is waited for edits. */
interface PlanPatience {
  /** The longest for the edits of each namespace, in milliseconds; default: for ever. */
  readonly patienceMs?: number | undefined
  /** Ends all waits; default: never. */
  readonly signal?: AbortSignal
}

/** Milliseconds after which the next change is planned in another turn of the event loop. */
const TURN_MS = 10
const NEVER = new AbortController().signal

/**
 * Plans the batch in its order, each change on top of those before it: so an edit sees what an earlier one of the same
 * file has made. A change of the most and deepest files takes some 5 ms, and of the most bytes 20 ms; a batch of them
 * gives turns to what else waits. Rejects with the signal's reason if that fires.
 */
export async function planSteps<C extends { readonly change: Change }>(
  tip: Held,
  batch: readonly C[],
  { patienceMs = Infinity, signal = NEVER }: PlanPatience = {},
): Promise<readonly Step<C>[]> {
  const { within } = waitForEdits(batch, patienceMs)
  const room = openEditRoom(batch)
  const now = stackOn(tip)
  const steps: Step<C>[] = []
  // Paths of changes that are for the next push, and so is each later change of one of them.
  const putOff = new Set<string>()
  const planOn = (held: Held, { change }: C): Promise<PlannedChange | Unplanned | 'slow'> =>
    unlessAborted(
      within(change, () => planChange(held, change)),
      signal,
    )
  let began = performance.now()
  for (const of of batch) {
    if (performance.now() - began > TURN_MS) {
      await nextTurn()
      began = performance.now()
    }
    const paths = of.change.files.map(({ path }) => path)
    if (paths.some((path) => putOff.has(path)) || !room.takes(of.change, bytesToEdit(now, of.change))) {
      for (const path of paths) putOff.add(path)
      steps.push({ kind: 'later', of })
      continue
    }
    const planned = await planOn(now, of)
    if (planned === 'slow') {
      steps.push({ kind: 'slow', of })
      continue
    }
    if ('failure' in planned) {
      const { obstacle } = planned
      const isLater = obstacle !== undefined && (putOff.size > 0 || now.mayBeGone(obstacle))
      if (isLater) steps.push({ kind: 'later', of })
      else steps.push(stepOf(of, planned.failure, await planOn(tip, of)))
      continue
    }
    now.add(planned)
    const { files } = planned
    steps.push(files.length === 0 ? { kind: 'unchanged', of } : { kind: 'edit', of, files })
  }
  return steps
}

/** What the branch will hold after the changes that were added. */
interface Stack extends Held {
  readonly add: (planned: PlannedChange) => void
  readonly mayBeGone: (obstacle: Obstacle) => boolean
}

function stackOn(tip: Held): Stack {
  const tree = new Map(tip.tree)
  const made = new Map<string, Uint8Array>()
  // Directories above a file that is removed: what else they hold is not known.
  const emptied = new Set<string>()

  function addFile({ path, content }: NewFile | RemovedFile): void {
    const oid = tree.get(path)?.oid
    if (content !== undefined && oid !== undefined) made.set(oid, content)
    if (content !== undefined) return
    for (const directory of pathsTo(path).slice(0, -1)) emptied.add(directory)
  }

  return {
    tree,
    read: (oid) => made.get(oid) ?? tip.read(oid),
    add({ entries, files }) {
      for (const [path, entry] of entries)
        if (entry === undefined) tree.delete(path)
        else tree.set(path, entry)
      for (const file of files) addFile(file)
    },
    mayBeGone: ({ at, is }) => is === 'directory' && emptied.has(at),
  }
}

/** About how many bytes its edits make: what there is of the files, with the values. */
function bytesToEdit({ tree, read }: Held, { files }: Change): number {
  const bytes = files.map(({ path, edit, keeps = 0 }) => {
    const before = edit === undefined ? undefined : read(tree.get(path)?.oid ?? '')
    return before instanceof Uint8Array ? before.length + keeps : 0
  })
  return bytes.reduce((sum, one) => sum + one, 0)
}

/** Of a change in conflict with what the branch will hold; `alone`: what it needs on top of the tip. */
function stepOf<C>(of: C, failure: Failure, alone: PlannedChange | Unplanned | 'slow'): Step<C> {
  if (alone === 'slow') return { kind: 'slow', of }
  return 'failure' in alone
    ? { kind: 'conflict', of, failure: alone.failure, early: false }
    : { kind: 'conflict', of, failure, early: true }
}
