import { EDITED_BYTES, type FileChange, type Landed } from '../../domain/commit/change.ts'
import { asFailure, Failure } from '../../domain/failure.ts'
import type { Blobs, NewCommit, Pushed, Remote, Tip } from '../remote.ts'
import type { Tree, TreeEntry } from '../tree.ts'
import {
  isWaitedFor,
  type PendingChange,
  remainingFor,
  restOf,
  type Settled,
  unconfirmed,
} from './pending-change.ts'
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
}

/** Names of what was found at the paths of changes; equal where nothing has changed there. */
export type Seen = ReadonlyMap<PendingChange, string>

/** What one push has ended, and what it has left. */
export interface Written {
  readonly settled: Settled
  readonly rest: readonly PendingChange[]
  /** Undefined: nothing was pushed. What is left then needs another round. */
  readonly pushed: Pushed | undefined
  /** The commit that was to become the tip. */
  readonly head: string
}

/** What was found at paths that were not read. */
export const UNKNOWN = ''

type PlannedStep = Step<PendingChange>
type EditStep = Extract<PlannedStep, { readonly kind: 'edit' }>

/** Reads what the tip holds at the paths of the batch, and plans its commits. A change in conflict with it has ended. */
export async function planCommits(remote: Remote, tip: Tip, batch: readonly PendingChange[]): Promise<Plan> {
  const files = batch.flatMap(({ change }) => change.files)
  const held = await readHeld(remote, tip, files)
  const steps = await planSteps(held, batch)
  const seen = new Map(batch.map((pending) => [pending, found(held.tree, pending)]))
  // A conflict with another change of the batch counts when that one has landed.
  return { steps, settled: conflictsIn(steps, { early: false }), unread: held.unread, seen }
}

/** What the tip holds at the paths of these files, with the contents of those that are edited. */
export async function readHeld(
  remote: Remote,
  tip: Tip,
  files: readonly FileChange[],
): Promise<Held & Pick<Plan, 'unread'>> {
  const tree = await remote.readTree(
    tip,
    files.map(({ path }) => path),
  )
  const edited = files.flatMap(({ path, edit }) => (edit === undefined ? [] : (tree.get(path) ?? [])))
  const blobs = await readFiles(remote, tip, edited)
  if (blobs instanceof Failure) return { tree, read: () => blobs, unread: blobs }
  return { tree, read: (oid) => blobs.get(oid), unread: undefined }
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

/** A plan that is carried out. */
export interface Writing extends Plan {
  /** Of the changes that have lost a race: what was at their paths then, or UNKNOWN. */
  readonly before: Seen
  /** Called when the push begins: from then on only the branch shows what has landed. Left out: nobody is told. */
  readonly pushing?: () => void
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
  { steps, settled, seen, before, pushing }: Writing,
): Promise<Written> {
  const batch = restOf(
    steps.map(({ of }) => of),
    settled,
  )
  const edits = steps.filter((step) => step.kind === 'edit')
  const movers = tip.exists && edits.length > 0 ? [] : moversOf(tip, steps)
  const commits = [...edits.map(commitFor), ...(tip.exists ? movers.slice(0, 1).map(emptyCommitFor) : [])]
  const names = commits.length === 0 ? [] : await remote.writeCommits(tip, commits)
  const head = names.at(-1) ?? tip.commit ?? ''
  const written = [...edits, ...movers].map(({ of }) => of)
  const lost = await unconfirmed(
    written,
    (pending) => before.has(pending) && before.get(pending) !== seen.get(pending),
  )
  if (lost.size > 0 || !written.every(isWaitedFor))
    return { settled: lost, rest: restOf(batch, lost), pushed: undefined, head }
  const remaining = (): number => remainingFor(written)
  pushing?.()
  const pushed =
    written.length > 0 ? await pushWatched(written, () => remote.push(tip, head, remaining)) : undefined
  if (pushed !== undefined && pushed.kind !== 'landed')
    return { settled: new Map(), rest: batch, pushed, head }
  const { branch } = tip
  const made = pushed?.names ?? names
  const sha = pushed?.names?.at(-1) ?? head
  const landed = new Map<PendingChange, Landed | Failure>([
    ...edits.map(({ of }, i) => [of, { outcome: 'pushed', sha: made[i] ?? sha, branch }] as const),
    ...steps
      .filter(({ kind }) => kind === 'unchanged')
      .map(({ of }) => [of, { outcome: 'unchanged', sha, branch }] as const),
    ...conflictsIn(steps, { early: true }),
  ])
  return { settled: landed, rest: restOf(batch, landed), pushed, head: sha }
}

/**
 * Changes for which the branch has to be pushed though it holds their contents. Where it is not there, it is made at the
 * tip, without a commit. Where a push of an earlier attempt may still be carried out, an empty commit lets that one fail.
 */
function moversOf(tip: Tip, steps: readonly PlannedStep[]): readonly PlannedStep[] {
  const unchanged = steps.filter(({ kind }) => kind === 'unchanged')
  return tip.exists ? unchanged.filter(({ of }) => of.change.latePush === true) : unchanged
}

async function pushWatched(written: readonly PendingChange[], push: () => Promise<Pushed>): Promise<Pushed> {
  for (const { pushWatch } of written) pushWatch?.sent()
  const pushed = await push()
  if (mayStillLand(pushed)) return pushed
  for (const { pushWatch } of written) pushWatch?.answered(pushed.kind === 'landed')
  return pushed
}

function mayStillLand(pushed: Pushed): boolean {
  return pushed.kind === 'unknown' || (pushed.kind !== 'landed' && pushed.late === true)
}

function found(tree: Tree, { change }: PendingChange): string {
  return JSON.stringify(change.files.map(({ path }) => tree.get(path) ?? null))
}

function commitFor({ of, files }: EditStep): NewCommit {
  const { message, author, signer } = of.change
  return { files, message, author, date: of.date, signer }
}

/** Without a `Commitlet-Id`: it is not the commit of a generation. */
function emptyCommitFor({ of }: PlannedStep): NewCommit {
  const { author, files, signer } = of.change
  const [path = ''] = files.map((file) => file.path)
  return { files: [], message: `Keep ${path}\n\n${EMPTY_COMMIT}\n`, author, date: of.date, signer }
}

const EMPTY_COMMIT = `The branch holds this content already. An earlier push for this file may still be under way;
this empty commit lets it fail, so that older content cannot come after newer.`

function conflictsIn(steps: readonly PlannedStep[], { early }: { readonly early: boolean }): Settled {
  return new Map(
    steps.flatMap((step) =>
      step.kind === 'conflict' && step.early === early ? [[step.of, step.failure] as const] : [],
    ),
  )
}
