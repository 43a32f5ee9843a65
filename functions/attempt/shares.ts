import { limitsWithin, memoryOf, type Limits } from '../git/session/limits.ts'
import type { Cost } from '../world.ts'
import { atMost, type Amounts } from './amounts.ts'
import type { Stock } from './budget.ts'
import type { LaneBounds } from './lane.ts'

/** How the memory and the disk of a pod are divided. */
export interface Shares {
  readonly stock: Stock
  /** Attempts, from before their claim to their result. */
  readonly attempts: LaneBounds
  /** Sessions with a repository for which the limits of an attempt are too low. */
  readonly large: LaneBounds
  /** What such a session costs, and its limits. */
  readonly largeCost: Cost
  readonly largeLimits: Limits
}

/**
 * The process itself, in MiB: 100 at rest, 64 of bodies of events, 64 attempts with 2 MiB of content each, some slack.
 * Never more than half of a small pod.
 */
const OWN_MIB = 320
/** Attempts at once, if the memory suffices: half of Node's threads, so that each may resolve a name. */
const MOST_ATTEMPTS = 64
const MOST_LARGE = 8
/** Least memory of a large session, in MiB: 24 for each process, and 32 to fetch. */
const LEAST_LARGE_MIB = 96
const WAITING = { total: 1_000, perNamespace: 250, perHost: 750 }

/**
 * Divides what the pod has. A large session may take a quarter of it, and all of them together three quarters; attempts
 * may take what one large session leaves. So both can always go on, and neither waits for the other for ever. Of the
 * attempts' part a namespace gets an eighth and a host three quarters; of the large sessions a quarter and three
 * quarters, but at least one.
 *
 * 2 GiB with a memory-backed folder of 1 GiB: 2,048 - 320 = 1,728 MiB, of which a large session takes 432 (256 to fetch,
 * and 61 for each git process), and attempts 1,296: 64 commits of 20 MiB.
 */
export function divide(pod: Stock, fetchLimitMiB: number): Shares {
  const memoryMiB = pod.memoryMiB - Math.min(OWN_MIB, pod.memoryMiB / 2)
  const stock = { ...pod, memoryMiB }
  const { cost, limits } = largeSession(stock, fetchLimitMiB)
  const largeMemory = cost.memoryMiB + (pod.diskIsMemory ? cost.diskMiB : 0)
  const attempts = {
    count: MOST_ATTEMPTS,
    memoryMiB: memoryMiB - largeMemory,
    diskMiB: pod.diskMiB - cost.diskMiB,
  }
  const fitting = Math.min((memoryMiB * 0.75) / largeMemory, (pod.diskMiB * 0.75) / cost.diskMiB)
  return {
    stock,
    attempts: {
      held: { total: attempts, perNamespace: part(attempts, 1 / 8), perHost: part(attempts, 3 / 4) },
      waiting: WAITING,
    },
    large: largeBounds(Math.min(MOST_LARGE, Math.max(1, Math.floor(fitting)))),
    largeCost: cost,
    largeLimits: limits,
  }
}

function largeSession(
  { memoryMiB, diskMiB, diskIsMemory }: Stock,
  fetchLimitMiB: number,
): { readonly cost: Cost; readonly limits: Limits } {
  const share = Math.max(LEAST_LARGE_MIB, memoryMiB / 4)
  const fetched = Math.min(fetchLimitMiB, diskMiB / 4, diskIsMemory ? share * 0.6 : Infinity)
  const fileMiB = Math.max(1, Math.floor(fetched))
  const limits = limitsWithin(diskIsMemory ? share - fileMiB : share, fileMiB)
  return { cost: { memoryMiB: memoryOf(limits), diskMiB: fileMiB }, limits }
}

// Their number says it all: each costs the same. Every attempt may wait for one, and attempts are bounded.
function largeBounds(count: number): LaneBounds {
  const held = (most: number): Amounts => atMost(Math.max(1, Math.floor(most)))
  return {
    held: { total: held(count), perNamespace: held(count / 4), perHost: held((count * 3) / 4) },
    waiting: { total: MOST_ATTEMPTS, perNamespace: MOST_ATTEMPTS, perHost: MOST_ATTEMPTS },
  }
}

function part({ count, memoryMiB, diskMiB }: Amounts, fraction: number): Amounts {
  return { count: count * fraction, memoryMiB: memoryMiB * fraction, diskMiB: diskMiB * fraction }
}
