import type { Landed } from '../../domain/commit/change.ts'
import { unlessAborted } from '../../domain/deadline.ts'
import type { Failure } from '../../domain/failure.ts'
import type { NewCommit, Pushed, Remote, Tip } from '../remote.ts'
import {
  isWaitedFor,
  type PendingChange,
  remainingFor,
  restOf,
  type Settled,
  unconfirmed,
} from './pending-change.ts'
import { conflictsIn, type Plan, type PlannedStep, type Seen } from './plan-batch.ts'

type EditStep = Extract<PlannedStep, { readonly kind: 'edit' }>

/** What one push has ended, and what it has left. */
export interface Written {
  readonly settled: Settled
  readonly rest: readonly PendingChange[]
  /** Undefined: nothing was pushed. What is left then needs another round. */
  readonly pushed: Pushed | undefined
  /** The commit that was to become the tip. */
  readonly head: string
}

/** A plan that is carried out. */
export interface Writing extends Pick<Plan, 'steps' | 'settled' | 'seen'> {
  /** Of the changes that have lost a race: what was at their paths then, or UNKNOWN. */
  readonly before: Seen
  /** Whether it is still to be pushed with the others; left out: all are. */
  readonly isOpen?: (pending: PendingChange) => boolean
  /** Called when the push begins: from then on only the branch shows what has landed. Left out: nobody is told. */
  readonly pushing?: () => void
}

/**
 * One commit on the tip per change that needs one, and one push, which also makes a missing branch. First the tip is
 * known, then the claim of each change is confirmed, then it is pushed with that tip as its lease: so an attempt that was
 * held up cannot write what a later one has written already. After a lost race the claims of those changes are confirmed
 * afresh at whose paths others have written: a later attempt at the same resource may have done so. A change whose claim
 * is not confirmed has ended, and the rest needs another round; so does all where one of them is not to be pushed any more.
 */
export async function commitAndPush(
  remote: Remote,
  tip: Tip,
  { steps, settled, seen, before, isOpen = isWaitedFor, pushing }: Writing,
): Promise<Written> {
  const batch = restOf(
    steps.map(({ of }) => of),
    settled,
  )
  const edits = steps.filter((step) => step.kind === 'edit')
  const movers = tip.exists && edits.length > 0 ? [] : moversOf(tip, steps)
  const needsCommit = tip.exists || (tip.commit === undefined && edits.length === 0)
  const empty = needsCommit ? movers.slice(0, 1).map((step) => emptyCommitFor(step, tip)) : []
  const commits = [...edits.map(commitFor), ...empty]
  const names = commits.length === 0 ? [] : await remote.writeCommits(tip, commits)
  const head = names.at(-1) ?? tip.commit ?? ''
  const written = [...edits, ...movers].map(({ of }) => of)
  const confirming = unconfirmed(
    written,
    (pending) => before.has(pending) && before.get(pending) !== seen.get(pending),
  )
  const lost = await unlessAborted(confirming, remote.signal)
  if (lost.size > 0 || !written.every(isOpen))
    return { settled: lost, rest: restOf(batch, lost), pushed: undefined, head }
  const remaining = (): number => remainingFor(written)
  pushing?.()
  const pushed =
    written.length > 0
      ? await pushWatched(written, remaining, (begin) => remote.push(tip, head, begin))
      : undefined
  if (pushed !== undefined && pushed.kind !== 'landed')
    return { settled: new Map(), rest: batch, pushed, head }
  const { branch } = tip
  const made = pushed?.names ?? names
  const sha = pushed?.names?.at(-1) ?? head
  const held = edits.length === 0 ? sha : (tip.commit ?? sha)
  const landed = new Map<PendingChange, Landed | Failure>([
    ...landedOf(steps, { made, held, branch }),
    ...conflictsIn(steps, { early: true }),
  ])
  return { settled: landed, rest: restOf(batch, landed), pushed, head: sha }
}

/**
 * What has become of each change. What needs no commit is held by the commit before it, at first `held`: a later commit
 * of the same push may write its paths again. `made`: the names of the commits, in the order of the edits.
 */
function landedOf(
  steps: readonly PlannedStep[],
  {
    made,
    held,
    branch,
  }: { readonly made: readonly string[]; readonly held: string; readonly branch: string },
): ReadonlyMap<PendingChange, Landed> {
  const landed = new Map<PendingChange, Landed>()
  const names = made.values()
  let sha = held
  for (const { kind, of } of steps) {
    if (kind === 'edit') sha = names.next().value ?? sha
    const outcome = kind === 'edit' ? 'pushed' : kind
    if (outcome === 'pushed' || outcome === 'unchanged') landed.set(of, { outcome, sha, branch })
  }
  return landed
}

/**
 * Changes for which the branch has to be pushed though it holds their contents. Where it is not there, it is made at the
 * tip, without a commit, or in an empty repository with an empty one. Where a push of an earlier attempt may still be carried
 * out, an empty commit lets that one fail.
 */
function moversOf(tip: Tip, steps: readonly PlannedStep[]): readonly PlannedStep[] {
  const unchanged = steps.filter(({ kind }) => kind === 'unchanged')
  return tip.exists ? unchanged.filter(({ of }) => of.change.latePush === true) : unchanged
}

/** Tells the watches of a push once its first byte is to be sent: until then nothing of it can come to the branch. */
async function pushWatched(
  written: readonly PendingChange[],
  remaining: () => number,
  push: (remaining: () => number) => Promise<Pushed>,
): Promise<Pushed> {
  const told = { begun: false }
  const pushed = await push(() => {
    const milliseconds = remaining()
    if (milliseconds > 0 && !told.begun) {
      told.begun = true
      for (const { pushWatch } of written) pushWatch?.sent()
    }
    return milliseconds
  })
  if (!told.begun || mayStillLand(pushed)) return pushed
  const isUnread = pushed.kind === 'refused' && pushed.unread === true
  for (const { pushWatch } of written)
    if (isUnread) pushWatch?.unread()
    else pushWatch?.answered(pushed.kind === 'landed')
  return pushed
}

/** Whether its answer was lost, so that the remote may have carried it out, or may still do so. */
export function mayStillLand(pushed: Pushed): boolean {
  return pushed.kind === 'unknown' || (pushed.kind !== 'landed' && pushed.late === true)
}

function commitFor({ of, files }: EditStep): NewCommit {
  const { message, author, signer } = of.change
  return { files, message, author, date: of.date, signer }
}

/** Without a `Commitlet-Id`: it is not the commit of a generation. */
function emptyCommitFor({ of }: PlannedStep, { branch, commit }: Tip): NewCommit {
  const { author, files, signer } = of.change
  const [path = ''] = files.map((file) => file.path)
  const message =
    commit === undefined ? `Begin ${branch}\n\n${FIRST_COMMIT}\n` : `Keep ${path}\n\n${EMPTY_COMMIT}\n`
  return { files: [], message, author, date: of.date, signer }
}

const FIRST_COMMIT = 'The repository was empty, and holds nothing that is to be removed.'
const EMPTY_COMMIT = `The branch holds this content already. An earlier push for this file may still be under way;
this empty commit lets it fail, so that older content cannot come after newer.`
