import type { Kind } from '../domain/resource/resource.ts'
import type { Parsed } from '../domain/schema/parse.ts'
import { FIRST_LIMITS } from '../git/session/limits.ts'
import type { Cost } from '../world.ts'

/** MiB of one attempt's content: an object of etcd's 1.5 MiB, as text and as the file. */
const CONTENT = 3

/**
 * What an attempt costs, measured with repositories of up to 100,000 files. It is what an attempt does take, not the
 * most that a hostile server can make it take (memoryOf(FIRST_LIMITS), 40 MiB): the rest is for the few who are called
 * by one.
 */
const COSTS = {
  /** git-remote-https 9 MiB (the authorities that it trusts), git, index-pack and the launchers 2 together, in private. */
  https: { memoryMiB: 9 + 2 + CONTENT + 2, diskMiB: FIRST_LIMITS.fileMiB },
  /** git and index-pack 2 MiB; the connection 2 MiB for each direction, and its share of what encrypts it. */
  ssh: { memoryMiB: 2 + 4 + CONTENT + 7, diskMiB: FIRST_LIMITS.fileMiB },
  /** Only calls of an API: an answer of up to 4 MiB as bytes, as text and parsed. */
  api: { memoryMiB: 12, diskMiB: 0 },
} as const satisfies Record<string, Cost>

/** What an attempt at this resource costs. */
export function costOf(kind: Kind, { target }: Parsed): Cost {
  if (kind === 'PullRequest') return COSTS.api
  return target?.address.scheme === 'ssh' ? COSTS.ssh : COSTS.https
}
