import type { Landed } from '../../domain/commit/change.ts'
import type { Failure } from '../../domain/failure.ts'
import type { NewCommit, Pushed, Remote, Tip } from '../remote.ts'
import type { Tree } from '../tree.ts'
import {
  isWaitedFor,
  type PendingChange,
  remainingFor,
  restOf,
  type Settled,
  unconfirmed,
} from './pending-change.ts'
import { planSteps, type Step } from './plan.ts'

/** What becomes of each change of a batch on this tip, and what has ended before anything is written. */
export interface Plan {
  readonly steps: readonly PlannedStep[]
  readonly settled: Settled
  /** What the tip holds at the paths of each change. */
  readonly seen: Seen
}

/** Names of what was found at the paths of changes; equal where nothing has changed there. */
export type Seen = ReadonlyMap<PendingChange, string>

/** What one push has ended, and what it has left. */
export interface Written {
  readonly settled: Settled
  readonly rest: readonly PendingChange[]
  /** Undefined: nothing was pushed. What is left then needs another round. */
  readonly pushed: Pushed | undefined
}

type PlannedStep = Step<PendingChange>
type EditStep = Extract<PlannedStep, { readonly kind: 'edit' }>

/** Reads what the tip holds at the paths of the batch, and plans its commits. A change in conflict with it has ended. */
export async function planCommits(remote: Remote, tip: Tip, batch: readonly PendingChange[]): Promise<Plan> {
  const paths = batch.flatMap(({ change }) => change.files.map(({ path }) => path))
  const tree = await remote.readTree(tip, paths)
  const steps = planSteps(tree, batch)
  const seen = new Map(batch.map((pending) => [pending, found(tree, pending)]))
  // A conflict with another change of the batch counts when that one has landed.
  return { steps, settled: conflictsIn(steps, { early: false }), seen }
}

/** Whether each change needs a commit on this tip, and nothing else is said about it. */
export function isCommitsOnly({ steps }: Plan): boolean {
  return steps.every(({ kind }) => kind === 'edit')
}

/** A plan that is carried out. */
export interface Writing extends Plan {
  /** After a lost race: what was at the paths before. Undefined: no race was lost. */
  readonly before: Seen | undefined
}

/**
 * One commit on the tip per change that needs one, and one push, which also makes a missing branch. First the tip is
 * known, then the claim of each change is confirmed, then it is pushed with that tip as its lease: so an attempt that was
 * held up cannot write what a later one has written already. After a lost race the claims of those changes are confirmed
 * afresh at whose paths others have written: a later attempt at the same resource may have done so. A change whose claim
 * is not confirmed has ended, and the rest needs another round; so does all where nobody waits any more for one of them.
 */
export async function commitAndPush(
  remote: Remote,
  tip: Tip,
  { steps, settled, seen, before }: Writing,
): Promise<Written> {
  const batch = restOf(
    steps.map(({ of }) => of),
    settled,
  )
  const edits = steps.filter((step) => step.kind === 'edit')
  const names = edits.length === 0 ? [] : await remote.writeCommits(tip, edits.map(commitFor))
  const head = names.at(-1) ?? tip.commit ?? ''
  // A branch that is not there is made at the tip where that holds all contents: no commit, but a push.
  const makers = tip.exists ? [] : steps.filter(({ kind }) => kind === 'unchanged')
  const written = [...edits, ...makers].map(({ of }) => of)
  const lost = await unconfirmed(
    written,
    (pending) => before !== undefined && before.get(pending) !== seen.get(pending),
  )
  if (lost.size > 0 || !written.every(isWaitedFor))
    return { settled: lost, rest: restOf(batch, lost), pushed: undefined }
  const remaining = (): number => remainingFor(written)
  const pushed = written.length > 0 ? await remote.push(tip, head, remaining) : undefined
  if (pushed !== undefined && pushed.kind !== 'landed') return { settled: new Map(), rest: batch, pushed }
  const { branch } = tip
  const landed = new Map<PendingChange, Landed | Failure>([
    ...edits.map(({ of }, i) => [of, { outcome: 'pushed', sha: names[i] ?? head, branch }] as const),
    ...steps
      .filter(({ kind }) => kind === 'unchanged')
      .map(({ of }) => [of, { outcome: 'unchanged', sha: head, branch }] as const),
    ...conflictsIn(steps, { early: true }),
  ])
  return { settled: landed, rest: restOf(batch, landed), pushed }
}

function found(tree: Tree, { change }: PendingChange): string {
  return JSON.stringify(change.files.map(({ path }) => tree.get(path) ?? null))
}

function commitFor({ of, files }: EditStep): NewCommit {
  const { message, author } = of.change
  return { files, message, author, date: of.date }
}

function conflictsIn(steps: readonly PlannedStep[], { early }: { readonly early: boolean }): Settled {
  return new Map(
    steps.flatMap((step) =>
      step.kind === 'conflict' && step.early === early ? [[step.of, step.failure] as const] : [],
    ),
  )
}
