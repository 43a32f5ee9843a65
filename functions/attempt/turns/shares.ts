import { limitsWithin, memoryOf, type Limits } from '../../git/session/limits.ts'
import { atMost, part, type Amounts } from './amounts.ts'
import { PREPARING, type Cost } from './cost.ts'
import type { Stock } from './budget.ts'
import type { LaneBounds } from './lane-bounds.ts'
import { EDIT_THREADS, MOST_EDIT_MIB } from '../../edits/edits.ts'

/** How the memory and the disk of a pod are divided. */
export interface Shares {
  readonly stock: Stock
  /** Changes: as a turn from before their claim until they are made, then as bytes until they are pushed. */
  readonly changes: LaneBounds
  /** The most that counts of a change that is made: one of several objects would wait for all others in a small pod. */
  readonly mostChangeMiB: number
  /** Sessions with a remote: pushes, and attempts at pull requests from before their claim to their end. */
  readonly sessions: LaneBounds
  /** Sessions with a repository for which the limits of an attempt are too low. */
  readonly large: LaneBounds
  /** What such a session costs, and its limits. */
  readonly largeCost: Cost
  /** Threads that edit files, and the most that one may take. */
  readonly edits: LaneBounds
  readonly editMiB: number
  readonly largeLimits: Limits
}

/**
 * The process itself, in MiB: 100 at rest, 64 of bodies of events, 152 of what the direct engine unpacks and remembers.
 * Never more than half of a small pod.
 */
const OWN_MIB = 320
/** Changes that are made at once: as many as there are connections to the API server. Each may resolve a name to log in. */
const MOST_PREPARING = 64
/** Sessions at once, if the memory suffices. Half of Node's threads resolve names, one for each of these and of the changes. */
const MOST_SESSIONS = 64
/** Changes get this part of what sessions and changes share, and no more than eight pushes of 64 MiB. */
const CHANGES = 0.15
const MOST_CHANGES_MIB = 512
/** Changes of several objects, of 24 MiB each, get this part of those: otherwise eight namespaces with one each had all. */
const LARGE_CHANGES = 3 / 4
/** A change of one object, also with what it takes while it waits for its push. */
const SMALL_MIB = PREPARING.memoryMiB + 1
const MOST_LARGE = 8
/** How long a large session gives way to nobody, in milliseconds: to fetch 256 MiB takes a while. Who waits for one has twice as long. */
const LARGE_OWN_MS = 30_000
/** Least memory of a large session, in MiB: 24 for each process, and 32 to fetch. */
const LEAST_LARGE_MIB = 96
/** So ten namespaces whose hosts never answer leave nine sessions of 64 to the next ones. */
const OF_REST = 1 / 4
const WAITING = { total: 1_000, perNamespace: 250, perHost: 750 }

/**
 * Divides what the pod has. A large session may take a quarter of it, and all of them together three quarters; of what one
 * large session leaves, sessions and changes have a part each. So each can always go on: changes wait for sessions, and these
 * for large ones and for edits of files, which take no more than a large one, but never the other way round. Of the parts of
 * sessions and of changes a namespace gets an eighth, and with more than one piece of work no more than a quarter of what is
 * left of them and of the stock, and a host three quarters; of the large sessions a quarter and three quarters, but at least
 * one. Changes of several objects have three quarters of the part of changes together, and namespaces that had to give way a
 * quarter of each part.
 *
 * 2 GiB with a memory-backed folder of 1 GiB: 2,048 - 320 = 1,728 MiB, of which a large session takes 432 (256 to fetch,
 * and 61 for each git process), sessions 1,101 (64 of 17 MiB), and changes 194, for one namespace 24.
 */
export function divide(pod: Stock, fetchLimitMiB: number): Shares {
  const memoryMiB = pod.memoryMiB - Math.min(OWN_MIB, pod.memoryMiB / 2)
  const stock = { ...pod, memoryMiB }
  const { cost, limits } = largeSession(stock, fetchLimitMiB)
  const largeMemory = cost.memoryMiB + (pod.diskIsMemory ? cost.diskMiB : 0)
  const rest = memoryMiB - largeMemory
  const fitting = Math.min((memoryMiB * 0.75) / largeMemory, (pod.diskMiB * 0.75) / cost.diskMiB)
  const changes = Math.min(MOST_CHANGES_MIB, rest * CHANGES)
  const sessions = {
    count: MOST_SESSIONS,
    memoryMiB: rest - changes,
    diskMiB: pod.diskMiB - cost.diskMiB,
  }
  return {
    stock,
    changes: changeBounds({ count: MOST_PREPARING, memoryMiB: changes, diskMiB: 0 }),
    // Whole numbers: what is taken and given back leaves nothing.
    mostChangeMiB: Math.max(PREPARING.memoryMiB, Math.floor(changes * LARGE_CHANGES)),
    sessions: fairBounds(sessions),
    large: largeBounds(Math.min(MOST_LARGE, Math.max(1, Math.floor(fitting)))),
    largeCost: cost,
    edits: EDITS,
    editMiB: Math.min(MOST_EDIT_MIB, largeMemory),
    largeLimits: limits,
  }
}

function changeBounds(total: Amounts): LaneBounds {
  const bounds = fairBounds(total)
  const large = { aboveMiB: SMALL_MIB, part: LARGE_CHANGES }
  return { ...bounds, held: { ...bounds.held, large } }
}

function fairBounds(total: Amounts): LaneBounds {
  return {
    held: {
      total,
      perNamespace: part(total, 1 / 8),
      perHost: part(total, 3 / 4),
      ofRest: OF_REST,
      ofSlow: part(total, 1 / 4),
    },
    waiting: WAITING,
    oneByOne: true,
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

const WAITING_IN_SESSION = { total: MOST_SESSIONS, perNamespace: MOST_SESSIONS, perHost: MOST_SESSIONS }

/** Each of the threads is used by whichever namespace has its turn (functions/edits/edits.ts). */
const EDITS: LaneBounds = {
  held: {
    total: atMost(EDIT_THREADS),
    perNamespace: atMost(EDIT_THREADS),
    perHost: atMost(EDIT_THREADS),
    ofSlow: atMost(EDIT_THREADS),
  },
  waiting: WAITING_IN_SESSION,
}

// Their number says it all: each costs the same. Every session may wait for one, and sessions are bounded.
function largeBounds(count: number): LaneBounds {
  const held = (most: number): Amounts => atMost(Math.max(1, Math.floor(most)))
  return {
    held: {
      total: held(count),
      perNamespace: held(count / 4),
      perHost: held((count * 3) / 4),
      ofSlow: held(count / 4),
    },
    waiting: WAITING_IN_SESSION,
    ownMs: LARGE_OWN_MS,
    // To edits: where sessions hold the rest, none of a larger file would be made while large sessions are.
    givesWayToEarlier: true,
  }
}
