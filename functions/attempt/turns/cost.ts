import { SIDE_BY_SIDE } from '../../commit/sources/objects.ts'
import type { RepositoryAddress } from '../../domain/repository/address.ts'
import { FIRST_LIMITS } from '../../git/session/limits.ts'

/** What work takes of the pod: MiB of memory, and MiB of the folder for temporary files. */
export interface Cost {
  readonly memoryMiB: number
  readonly diskMiB: number
}

/** To make a change: an object of etcd's 1.5 MiB, as text and as the file, which is all that is left in the end. */
export const PREPARING: Cost = { memoryMiB: 3, diskMiB: 0 }

/** The same for a change of so many objects: as many are read at the same time, but no more than SIDE_BY_SIDE. */
export function preparing(objects = 1): Cost {
  const atOnce = Math.max(1, Math.min(objects, SIDE_BY_SIDE))
  return { ...PREPARING, memoryMiB: PREPARING.memoryMiB * atOnce }
}

/** A session with the API of a host: an answer of up to 4 MiB as bytes, as text and parsed. */
export const API_SESSION: Cost = { memoryMiB: 12, diskMiB: 0 }

/**
 * What a session with a Git remote costs, measured with repositories of up to 100,000 files. It is what a session does
 * take, not the most that a hostile server can make it take (memoryOf(FIRST_LIMITS), 40 MiB): the rest is for the few
 * who are called by one.
 */
const SESSIONS = {
  /** git-remote-https 9 MiB (the authorities that it trusts), git, index-pack and the launchers 2 together, in private. */
  https: { memoryMiB: 9 + 2 + 2, diskMiB: FIRST_LIMITS.fileMiB },
  /** git and index-pack 2 MiB; the connection 2 MiB for each direction, and its share of what encrypts it. */
  ssh: { memoryMiB: 2 + 4 + 7, diskMiB: FIRST_LIMITS.fileMiB },
} as const satisfies Record<string, Cost>

/** What a session with this repository costs. */
export function sessionCost({ scheme }: Pick<RepositoryAddress, 'scheme'>): Cost {
  return scheme === 'ssh' ? SESSIONS.ssh : SESSIONS.https
}
