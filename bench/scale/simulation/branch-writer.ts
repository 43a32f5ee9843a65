import { watchContention } from '../../../functions/git/group-commit/branch-contention.ts'
import { LONGEST_GATHERING_MS } from '../../../functions/git/group-commit/queue/branch-queue.ts'
import { BATCH_LENGTH } from '../../../functions/git/group-commit/queue/push-size.ts'
import { ROUNDS } from '../../../functions/git/writer/work.ts'
import { MINUTE_MS } from './host.ts'
import type { Program } from './processor.ts'
import type { makeTurns } from './turns.ts'
import type { Commit, SimulatedWorld, Work } from './world.ts'

/** A commit that waits for its push. */
export interface Waiter {
  readonly commit: Commit
  readonly claimedAt: number
  readonly release: () => void
  readonly answered: () => void
}

/** How a push has ended for a commit: it is on the branch, or is tried again after so many milliseconds. */
export type Ending = 'landed' | { readonly retryAfterMs: number }

/** Writes commits to branches: one push in flight for each, and what arrives meanwhile goes in the next push. */
export interface BranchWriter {
  /** One more commit for this branch is on its way. */
  readonly expect: (branch: string) => void
  /** One that was expected has come. */
  readonly add: (waiter: Waiter) => void
}

interface Branch {
  readonly waiters: Waiter[]
  expected: number
  isBusy: boolean
  /** When the first of those that wait has come. */
  came: number
  look: () => void
}

interface Round {
  readonly branch: string
  readonly batch: Waiter[]
  readonly round: number
  readonly beganAt: number
}

/** As functions/git/writer/round.ts. */
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 3_000
const SHORT_PAUSES = 10

/** The writer of one pod. `finish` is told how each commit has ended. */
export function makeBranchWriter(
  world: SimulatedWorld,
  {
    program,
    turns,
    finish,
  }: {
    readonly program: Program
    readonly turns: ReturnType<typeof makeTurns>
    readonly finish: (waiter: Waiter, ending: Ending) => void
  },
): BranchWriter {
  const { clock, counts, engine, host } = world
  const isOld = world.turns.keptWhileWaiting
  const branches = new Map<string, Branch>()
  const tips = new Map<string, number>()
  const contention = watchContention(world.random, () => clock.now())

  function branchOf(name: string): Branch {
    const known = branches.get(name)
    if (known !== undefined) return known
    const made: Branch = { waiters: [], expected: 0, isBusy: false, came: 0, look: () => undefined }
    branches.set(name, made)
    return made
  }

  function add(waiter: Waiter): void {
    const { branch: name } = waiter.commit
    const branch = branchOf(name)
    branch.expected -= 1
    if (branch.waiters.length === 0) branch.came = clock.now()
    branch.waiters.push(waiter)
    branch.look()
    if (!branch.isBusy) startNext(name)
  }

  function startNext(name: string): void {
    const branch = branchOf(name)
    const [first] = branch.waiters
    branch.isBusy = first !== undefined
    if (first === undefined) {
      if (branch.expected === 0) branches.delete(name)
      return
    }
    if (isOld) {
      land(name, () => startNext(name))
      return
    }
    gather(name, () =>
      turns.acquire(first.commit.namespace, (release) =>
        land(name, () => {
          contention.batchEnded(name)
          release()
          startNext(name)
        }),
      ),
    )
  }

  /** As the queue of a branch in functions/git/writer does. */
  function gather(name: string, done: () => void): void {
    const branch = branchOf(name)
    const pauseMs = contention.pauseFor(name, true)
    const paused = clock.now() + pauseMs
    const longest = Math.max(branch.came + LONGEST_GATHERING_MS, paused)
    let isDone = false
    const end = (): void => {
      if (isDone) return
      isDone = true
      branch.look = () => undefined
      done()
    }
    branch.look = () => {
      const isAlone = branch.expected === 0 && clock.now() >= paused
      if (isAlone || branch.waiters.length >= BATCH_LENGTH) end()
    }
    clock.after(pauseMs + 1, branch.look)
    clock.after(Math.max(0, longest - clock.now()), end)
    branch.look()
  }

  function land(name: string, done: () => void): void {
    const batch = branchOf(name).waiters.splice(0, BATCH_LENGTH)
    const of = { branch: name, batch, round: 0, beganAt: clock.now() }
    const tip = engine.remembersTip && !contention.isContended(name) ? tips.get(name) : undefined
    if (tip === undefined) read({ ...of, work: engine.read }, done)
    else push({ ...of, tip, isRemembered: true }, done)
  }

  function read({ work, ...round }: Round & { readonly work: Work }, done: () => void): void {
    program.run(work.podMs, () =>
      host.read(round.branch, work, (tip) => push({ ...round, tip, isRemembered: false }, done)),
    )
  }

  function push(
    of: Round & { readonly tip: number; readonly isRemembered: boolean },
    done: () => void,
  ): void {
    const { branch, batch, tip, isRemembered } = of
    const work = sum(engine.push, engine.perCommit, batch.length)
    program.run(work.podMs, () =>
      host.push(branch, { ...work, lease: tip }, (pushed) => {
        const milliseconds = clock.now() - of.beganAt
        const head = pushed === 'landed' ? `${tip + 1}` : undefined
        const seen = isRemembered ? undefined : `${tip}`
        if (!isOld) contention.roundEnded(branch, { tip: seen, head, raced: pushed === 'lost', milliseconds })
        if (pushed === 'lost') {
          again(of, { wasRemembered: isRemembered, milliseconds }, done)
          return
        }
        if (pushed === 'landed') tips.set(branch, tip + 1)
        const retryAfterMs = MINUTE_MS - (clock.now() % MINUTE_MS)
        for (const waiter of batch) finish(waiter, pushed === 'landed' ? 'landed' : { retryAfterMs })
        done()
      }),
    )
  }

  interface Lost {
    readonly wasRemembered: boolean
    readonly milliseconds: number
  }

  /** After a lost race: at once where only the memory was old, else after a pause, with what has come meanwhile. */
  function again(
    { branch, batch, round }: Round,
    { wasRemembered, milliseconds }: Lost,
    done: () => void,
  ): void {
    if (wasRemembered) counts.oldTips += 1
    const next = round + (wasRemembered ? 0 : 1)
    if (next >= ROUNDS) {
      for (const waiter of batch) finish(waiter, { retryAfterMs: 0 })
      done()
      return
    }
    clock.after(wasRemembered ? 0 : world.random() * longestPause(next, milliseconds), () => {
      const more = isOld ? [] : branchOf(branch).waiters.splice(0, BATCH_LENGTH - batch.length)
      const grown = [...batch, ...more]
      read({ branch, batch: grown, round: next, beganAt: clock.now(), work: engine.readAgain }, done)
    })
  }

  function longestPause(round: number, raceMs: number): number {
    const longest = isOld
      ? FIRST_PAUSE_MS * 2 ** (round - 1)
      : raceMs * 2 ** Math.max(0, round - SHORT_PAUSES)
    return Math.min(LONGEST_PAUSE_MS, longest)
  }

  return { expect: (name) => void (branchOf(name).expected += 1), add }
}

function sum(one: Work, each: Work, count: number): Work {
  return {
    podMs: one.podMs + each.podMs * count,
    trips: one.trips,
    hostMs: one.hostMs + each.hostMs * count,
  }
}
