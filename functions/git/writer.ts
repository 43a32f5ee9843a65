import { setTimeout as wait } from 'node:timers/promises'
import type { Change, Landed } from '../domain/change.ts'
import { Failure } from '../domain/failure.ts'
import { importStream, readMarks } from './fast-import.ts'
import { fetchBase, type Base } from './fetch.ts'
import { findLanded } from './history.ts'
import { planSteps, type Step } from './plan.ts'
import { pushOnce, type Pushed } from './push.ts'
import type { Session } from './session.ts'
import { readTree } from './tree.ts'

/** One change that waits for its commit. */
export interface Entry {
  readonly change: Change
  /** Date of the commit; the same in each round, so that the same edit on the same tip is the same commit. */
  readonly date: Date
  /** Fires when nobody waits for this change any more. */
  readonly signal: AbortSignal
  /** Called once; later calls do nothing. */
  readonly settle: (result: Landed | Failure) => void
}

/** How often a batch is built anew on a branch that others move, before it fails with Conflict. */
export const ROUNDS = 10

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 3000
const CLOCK_SKEW_MS = 3_600_000

/**
 * Writes a batch (one repository, one branch, one login) and settles each entry. What is bad before the push
 * fails alone; a batch that the remote refuses because of its commits is halved until the bad ones stand alone.
 */
export async function land(session: Session, batch: readonly Entry[]): Promise<void> {
  const open = batch.filter(isWaitedFor)
  if (open.length === 0) return
  const left = new Set(open)
  const refused = await writeRounds(session, left).catch((error: unknown) => ({
    failure: asFailure(error),
    each: false,
  }))
  const rest = [...left]
  if (!refused.each || rest.length === 1) {
    for (const entry of rest) entry.settle(refused.failure)
    return
  }
  await land(session, rest.slice(0, rest.length / 2))
  await land(session, rest.slice(rest.length / 2))
}

interface Refused {
  readonly failure: Failure
  readonly each: boolean
}

/** Settles entries and takes them out of `left`; what stays in it has met the refusal that is answered. */
async function writeRounds(session: Session, left: Set<Entry>): Promise<Refused> {
  const started = Date.now()
  let searched: Search | undefined = firstSearch([...left])
  let suspect: Suspect | undefined
  for (let round = 0; round < ROUNDS; round++) {
    if (round > 0) await pause(round, session.signal)
    const [first] = [...left].filter(isWaitedFor)
    if (first === undefined) break
    const base = await fetchBase(session, first.change.branch, searched?.since)
    if (base === undefined) continue
    if (suspect !== undefined && suspect.tip === base.tip) return { failure: suspect.failure, each: true }
    if (searched !== undefined) await settleFound(session, { base, search: searched, left })
    const pushed = await writeRound(session, base, left)
    if (left.size === 0) break
    if (pushed?.kind === 'refused') return pushed
    suspect =
      pushed?.kind === 'race' && pushed.unless !== undefined
        ? { tip: base.tip, failure: pushed.unless }
        : undefined
    searched =
      pushed?.kind === 'moved' ? { since: new Date(started - CLOCK_SKEW_MS), entries: [...left] } : undefined
  }
  return { failure: lostRace(session), each: false }
}

interface Search {
  readonly since: Date
  readonly entries: readonly Entry[]
}

interface Suspect {
  readonly tip: string | undefined
  readonly failure: Failure
}

function firstSearch(batch: readonly Entry[]): Search | undefined {
  const entries = batch.filter(({ change }) => change.since !== undefined)
  const since = Math.min(...entries.map(({ change }) => change.since?.getTime() ?? Infinity))
  return entries.length === 0 ? undefined : { since: new Date(since), entries }
}

interface Looking {
  readonly base: Base
  readonly search: Search
  readonly left: Set<Entry>
}

async function settleFound(session: Session, { base, search, left }: Looking): Promise<void> {
  if (!base.exists) return
  for (const [entry, sha] of await findLanded(session, base.branch, search.entries)) {
    settle(left, entry, { outcome: 'found', sha, branch: base.branch })
  }
}

/** One commit per change that needs one, and one push. Undefined: there was nothing to push. */
async function writeRound(session: Session, base: Base, left: Set<Entry>): Promise<Pushed | undefined> {
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
  if (edits.length === 0) {
    settleSteps(left, steps, { branch: base.branch, tip: base.tip ?? '', shas: [] })
    return undefined
  }
  const shas = await makeCommits(session, base, edits)
  const tip = shas.at(-1) ?? ''
  const pushed = await pushOnce(session, base, tip)
  if (pushed.kind === 'landed') settleSteps(left, steps, { branch: base.branch, tip, shas })
  return pushed
}

type EditStep = Extract<Step<Entry>, { kind: 'edit' }>

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
    `Git made ${shas.length} commits of ${steps.length} for ${session.scene.url}; it is tried again.`,
  )
}

function settleSteps(
  left: Set<Entry>,
  steps: readonly Step<Entry>[],
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

function settle(left: Set<Entry>, entry: Entry, result: Landed | Failure): void {
  left.delete(entry)
  entry.settle(result)
}

function isWaitedFor({ signal }: Entry): boolean {
  return !signal.aborted
}

// Full jitter: writers that met once do not meet again.
async function pause(round: number, signal: AbortSignal): Promise<void> {
  const longest = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (round - 1))
  await wait(Math.random() * longest, undefined, { signal })
}

function lostRace({ scene }: Session): Failure {
  return new Failure(
    'Conflict',
    `Other writers moved the branch of ${scene.url} ${ROUNDS} times while the commit was on its way; it is tried again.`,
  )
}

/** Failure as it is; everything else is a bug. */
export function asFailure(error: unknown): Failure {
  if (error instanceof Failure) return error
  return new Failure(
    'Internal',
    'Commitlet met an error of its own while it wrote to the repository; it is tried again.',
    { cause: error },
  )
}
