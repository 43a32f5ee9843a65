import { makeBranchWriter, type Ending, type Waiter } from './branch-writer.ts'
import type { Program } from './processor.ts'
import { makeTurns } from './turns.ts'
import type { Commit, SimulatedWorld } from './world.ts'

/** A pod of the function. */
export interface Pod {
  /** Makes an attempt, and calls `answered` when the event is. */
  readonly handle: (commit: Commit, answered: () => void) => void
  /** Events without an answer. */
  readonly inFlight: () => number
}

/** A claim is renewed this often. */
const RENEWAL_MS = 10_000

/**
 * A pod: one push in flight for each branch, and what arrives meanwhile goes in the next push. `firstMs`: what the first
 * attempt costs in addition.
 */
export function makePod(world: SimulatedWorld, program: Program, firstMs: number): Pod {
  const { clock, costs, counts } = world
  const turns = makeTurns(world.turns)
  const writer = makeBranchWriter(world, { program, turns, finish })
  let inFlight = 0
  let extraMs = firstMs

  function handle(commit: Commit, answered: () => void): void {
    inFlight += 1
    writer.expect(commit.branch)
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
    writer.add(waiter)
  }

  function finish(waiter: Waiter, ending: Ending): void {
    counts.apiWrites += 2 + Math.floor((clock.now() - waiter.claimedAt) / RENEWAL_MS)
    program.run(costs.pod.end, () =>
      world.apiServer.run(costs.apiServer.end, () => {
        inFlight -= 1
        if (world.turns.keptWhileWaiting) waiter.release()
        if (ending === 'landed') world.landed(waiter.commit)
        else world.retry(waiter.commit, ending.retryAfterMs)
        waiter.answered()
      }),
    )
  }

  return { handle, inFlight: () => inFlight }
}
