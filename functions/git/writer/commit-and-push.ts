import type { Landed } from '../../domain/commit/change.ts'
import { asFailure, type Failure } from '../../domain/failure.ts'
import type { NewCommit, Pushed, Remote, Tip } from '../remote.ts'
import { type PendingChange, restOf, type Settled } from './pending-change.ts'
import { planSteps, type Step } from './plan.ts'

/** What one push has ended, and what it has left. */
export interface Written {
  readonly settled: Settled
  readonly rest: readonly PendingChange[]
  /** Undefined: there was nothing to push. */
  readonly pushed: Pushed | undefined
}

type PlannedStep = Step<PendingChange>
type EditStep = Extract<PlannedStep, { readonly kind: 'edit' }>

/**
 * One commit on the tip per change that needs one, and one push, which also makes a missing branch. A Failure on the
 * way comes back as a refusal of all that are left.
 */
export async function commitAndPush(
  remote: Remote,
  tip: Tip,
  batch: readonly PendingChange[],
): Promise<Written> {
  let steps: readonly PlannedStep[] = []
  try {
    const paths = batch.flatMap(({ change }) => change.files.map(({ path }) => path))
    steps = planSteps(await remote.readTree(tip, paths), batch)
    const { pushed, settled } = await pushSteps(remote, tip, steps)
    return written(batch, pushed, new Map([...ownConflicts(steps), ...settled]))
  } catch (error) {
    return written(batch, { kind: 'refused', failure: asFailure(error), each: false }, ownConflicts(steps))
  }
}

function written(batch: readonly PendingChange[], pushed: Pushed | undefined, settled: Settled): Written {
  return { settled, rest: restOf(batch, settled), pushed }
}

// A conflict with another change of the batch counts when that one has landed.
function ownConflicts(steps: readonly PlannedStep[]): Settled {
  return settleConflicts(steps.filter((step) => step.kind === 'conflict' && !step.early))
}

async function pushSteps(
  remote: Remote,
  tip: Tip,
  steps: readonly PlannedStep[],
): Promise<{ readonly pushed: Pushed | undefined; readonly settled: Settled }> {
  const edits = steps.filter((step) => step.kind === 'edit')
  const names = edits.length === 0 ? [] : await remote.writeCommits(tip, edits.map(commitFor))
  const head = names.at(-1) ?? tip.commit ?? ''
  // A branch that is not there is made at the tip where that holds all contents: no commit, but a push.
  const pushes = edits.length > 0 || (!tip.exists && steps.some(({ kind }) => kind === 'unchanged'))
  const pushed = pushes ? await remote.push(tip, head) : undefined
  if (pushed !== undefined && pushed.kind !== 'landed') return { pushed, settled: new Map() }
  const { branch } = tip
  return {
    pushed,
    settled: new Map<PendingChange, Landed | Failure>([
      ...edits.map(({ of }, i) => [of, { outcome: 'pushed', sha: names[i] ?? head, branch }] as const),
      ...steps
        .filter(({ kind }) => kind === 'unchanged')
        .map(({ of }) => [of, { outcome: 'unchanged', sha: head, branch }] as const),
      ...settleConflicts(steps),
    ]),
  }
}

function commitFor({ of, files }: EditStep): NewCommit {
  const { message, author } = of.change
  return { files, message, author, date: of.date }
}

function settleConflicts(steps: readonly PlannedStep[]): Settled {
  return new Map(
    steps.flatMap((step) => (step.kind === 'conflict' ? [[step.of, step.failure] as const] : [])),
  )
}
