import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { ChangeDraft } from '../../../domain/commit/change.ts'
import { DEFAULT_PORTS } from '../../../domain/repository/address.ts'

/** The branch that a change is for. */
export type BranchTarget = Pick<ChangeDraft, 'repository' | 'branch'>

/** The same with the namespace of the change: what another one makes a pod remember makes it forget nothing of theirs. */
export type OwnBranchTarget = BranchTarget & Pick<ChangeDraft, 'namespace'>

/** Names of default branches, as they were found at the remote. */
export interface DefaultBranches {
  /** The target with the name of its branch, where that is known for one that names none. */
  readonly named: (target: OwnBranchTarget) => OwnBranchTarget
  /** What a change of this target was written to. */
  readonly found: (target: OwnBranchTarget, branch: string) => void
}

/** Most namespaces, and repositories of each, that are remembered; beyond that the least recently used one is forgotten. */
const NAMESPACES = 1_000
const REPOSITORIES = 100

/** Begins with none. */
export function rememberDefaultBranches(): DefaultBranches {
  const known = new LRUCache<string, LRUCache<string, string>>({ max: NAMESPACES })
  return {
    named(target) {
      if (target.branch !== undefined) return target
      const branch = known.get(target.namespace)?.get(shortPlace(target))
      return branch === undefined ? target : { ...target, branch }
    },
    found(target, branch) {
      if (target.branch !== undefined) return
      const { namespace } = target
      const own = known.get(namespace) ?? new LRUCache<string, string>({ max: REPOSITORIES })
      known.set(namespace, own)
      own.set(shortPlace(target), branch)
    },
  }
}

/**
 * The key of a branch for what has turns there, whatever the login. One place has several addresses: with and without `.git`, over
 * HTTPS and SSH, and at most hosts in capitals or not. Where two are different places, they wait for one another's pushes, and
 * nothing else comes of it.
 */
export function branchKey(target: BranchTarget): string {
  return JSON.stringify([placeOf(target), target.branch ?? null])
}

function placeOf({ repository: { scheme, host, port, segments } }: BranchTarget): string {
  const shownPort = port === DEFAULT_PORTS[scheme] ? '' : `:${port}`
  return `${host}${shownPort}/${segments.join('/').toLowerCase()}`
}

/** Short: an address may have 2,048 characters. */
function shortPlace(target: BranchTarget): string {
  return createHash('sha256').update(placeOf(target)).digest('base64')
}
