import { Failure } from '../../domain/failure.ts'
import { isWaitedFor, settle, type PendingChange } from './pending-change.ts'
import { importStream, readMarks } from '../session/fast-import.ts'
import type { Base } from '../session/fetch.ts'
import { planSteps, type Step } from './plan.ts'
import { pushOnce, type Pushed } from '../session/push.ts'
import type { Session } from '../session/session.ts'
import { readTree } from '../session/tree.ts'

/**
 * One commit on `base` per change that needs one, and one push, which also makes a missing branch. Settles what
 * has ended by it. Undefined: there was nothing to push.
 */
export async function commitAndPush(
  session: Session,
  base: Base,
  left: Set<PendingChange>,
): Promise<Pushed | undefined> {
  const batch = [...left].filter(isWaitedFor)
  const tree = await readTree(
    session,
    base.tip,
    batch.map(({ change }) => change.path),
  )
  const steps = planSteps(tree, batch)
  // A conflict with another change of the batch counts when that one has landed.
  for (const step of steps) if (step.kind === 'conflict' && !step.early) settle(left, step.of, step.failure)
  const edits = steps.filter((step) => step.kind === 'edit')
  const shas = edits.length === 0 ? [] : await makeCommits(session, base, edits)
  const at = { branch: base.branch, tip: shas.at(-1) ?? base.tip ?? '', shas }
  // A branch that is not there is made at the tip where that holds all contents: no commit, but a push.
  const pushes = edits.length > 0 || (!base.exists && steps.some(({ kind }) => kind === 'unchanged'))
  const pushed = pushes ? await pushOnce(session, base, at.tip) : undefined
  if (pushed === undefined || pushed.kind === 'landed') settleSteps(left, steps, at)
  return pushed
}

type EditStep = Extract<Step<PendingChange>, { kind: 'edit' }>

async function makeCommits(
  session: Session,
  base: Base,
  steps: readonly EditStep[],
): Promise<readonly string[]> {
  const edits = steps.map(({ of, mode }) => ({ ...of.change, mode, date: of.date }))
  const stream = Buffer.concat(importStream(base.tip, edits))
  await session.offline(['fast-import', '--quiet', '--done', '--force', '--export-marks=marks'], stream)
  const shas = readMarks(await session.workspace.readLines('marks'))
  if (shas.length === steps.length) return shas
  throw new Failure(
    'Internal',
    `Git made ${shas.length} commits of ${steps.length} for ${session.context.url}; it is tried again.`,
  )
}

function settleSteps(
  left: Set<PendingChange>,
  steps: readonly Step<PendingChange>[],
  at: { readonly branch: string; readonly tip: string; readonly shas: readonly string[] },
): void {
  const { branch, tip } = at
  let edit = 0
  for (const step of steps) {
    if (step.kind === 'edit')
      settle(left, step.of, { outcome: 'pushed', sha: at.shas[edit++] ?? tip, branch })
    if (step.kind === 'unchanged') settle(left, step.of, { outcome: 'unchanged', sha: tip, branch })
    if (step.kind === 'conflict') settle(left, step.of, step.failure)
  }
}
