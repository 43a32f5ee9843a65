import { BATCH_LENGTH } from '../../../functions/git/writer/branch-queue.ts'
import { ROUNDS } from '../../../functions/git/writer/round.ts'
import { MINUTE_MS } from './host.ts'
import type { Program } from './processor.ts'
import { makeTurns } from './turns.ts'
import type { Commit, SimulatedWorld, Work } from './world.ts'

/** A pod of the function. */
export interface Pod {
  /** Makes an attempt, and calls `answered` when the event is. */
  readonly handle: (commit: Commit, answered: () => void) => void
  /** Events without an answer. */
  readonly inFlight: () => number
}

/** As functions/git/writer/round.ts. */
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 3_000
/** A claim is renewed this often. */
const RENEWAL_MS = 10_000

interface Waiter {
  readonly commit: Commit
  readonly claimedAt: number
  readonly release: () => void
  readonly answered: () => void
}

/**
 * A pod: one push in flight for each branch, and what arrives meanwhile goes in the next push. `firstMs`: what the first
 * attempt costs in addition.
 */
export function makePod(world: SimulatedWorld, program: Program, firstMs: number): Pod {
  const { clock, costs, counts, engine, host } = world
  const turns = makeTurns(world.turns)
  const queues = new Map<string, Waiter[]>()
  const tips = new Map<string, number>()
  let inFlight = 0
  let extraMs = firstMs

  function handle(commit: Commit, answered: () => void): void {
    inFlight += 1
    turns.acquire(commit.namespace, (release) => {
      const cpuMs = costs.pod.claim + extraMs
      extraMs = 0
      counts.apiWrites += 1
      const claimedAt = clock.now()
      program.run(cpuMs, () =>
        world.apiServer.run(costs.apiServer.claim, () => enqueue({ commit, claimedAt, release, answered })),
      )
    })
  }

  function enqueue(waiter: Waiter): void {
    if (!world.turns.keptWhileWaiting) waiter.release()
    const { branch } = waiter.commit
    const queue = queues.get(branch)
    if (queue !== undefined) {
      queue.push(waiter)
      return
    }
    queues.set(branch, [waiter])
    startNext(branch)
  }

  function startNext(branch: string): void {
    const batch = queues.get(branch)?.splice(0, BATCH_LENGTH) ?? []
    const [first] = batch
    if (first === undefined) {
      queues.delete(branch)
      return
    }
    if (world.turns.keptWhileWaiting) land(branch, batch, () => startNext(branch))
    else
      turns.acquire(first.commit.namespace, (release) =>
        land(branch, batch, () => {
          release()
          startNext(branch)
        }),
      )
  }

  function land(branch: string, batch: readonly Waiter[], done: () => void): void {
    const tip = engine.remembersTip ? tips.get(branch) : undefined
    if (tip === undefined) read({ branch, batch, round: 0, work: engine.read }, done)
    else push({ branch, batch, round: 0, tip, isRemembered: true }, done)
  }

  interface Round {
    readonly branch: string
    readonly batch: readonly Waiter[]
    readonly round: number
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
    const { branch, batch, round, tip, isRemembered } = of
    const work = sum(engine.push, engine.perCommit, batch.length)
    program.run(work.podMs, () =>
      host.push(branch, { ...work, lease: tip }, (pushed) => {
        if (pushed === 'landed') {
          tips.set(branch, tip + 1)
          for (const waiter of batch) finish(waiter, () => world.landed(waiter.commit))
          done()
        } else if (pushed === 'refused') {
          const wait = MINUTE_MS - (clock.now() % MINUTE_MS)
          for (const waiter of batch) finish(waiter, () => world.retry(waiter.commit, wait))
          done()
        } else later({ branch, batch, round }, isRemembered, done)
      }),
    )
  }

  /** After a lost race: at once where only the memory was old, else after a pause with full jitter. */
  function later(of: Round, wasRemembered: boolean, done: () => void): void {
    if (wasRemembered) counts.oldTips += 1
    const next = { ...of, round: of.round + (wasRemembered ? 0 : 1), work: engine.readAgain }
    if (next.round >= ROUNDS) {
      for (const waiter of of.batch) finish(waiter, () => world.retry(waiter.commit, 0))
      done()
      return
    }
    const longest = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (next.round - 1))
    clock.after(wasRemembered ? 0 : world.random() * longest, () => read(next, done))
  }

  function finish(waiter: Waiter, settled: () => void): void {
    counts.apiWrites += 2 + Math.floor((clock.now() - waiter.claimedAt) / RENEWAL_MS)
    program.run(costs.pod.end, () =>
      world.apiServer.run(costs.apiServer.end, () => {
        inFlight -= 1
        if (world.turns.keptWhileWaiting) waiter.release()
        settled()
        waiter.answered()
      }),
    )
  }

  return { handle, inFlight: () => inFlight }
}

function sum(one: Work, each: Work, count: number): Work {
  return {
    podMs: one.podMs + each.podMs * count,
    trips: one.trips,
    hostMs: one.hostMs + each.hostMs * count,
  }
}
