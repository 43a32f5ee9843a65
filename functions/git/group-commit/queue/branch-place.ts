import { createHash } from 'node:crypto'
import type { ChangeDraft } from '../../../domain/commit/change.ts'
import { DEFAULT_PORTS } from '../../../domain/repository/address.ts'
import { openFairCache } from '../../../domain/sharing/fair-cache.ts'

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

/** Most of them that are remembered; beyond that, the namespace with the most repositories loses one. */
const MOST_REMEMBERED = 10_000

/** Begins with none. */
export function rememberDefaultBranches(): DefaultBranches {
  const known = openFairCache<string>(MOST_REMEMBERED)
  return {
    named(target) {
      if (target.branch !== undefined) return target
      const branch = known.get(target.namespace, shortKey(target))
      return branch === undefined ? target : { ...target, branch }
    },
    found(target, branch) {
      if (target.branch === undefined) known.set(target.namespace, shortKey(target), branch)
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

/** For each namespace by itself. Short: an address may have 2,048 characters. */
function shortKey(target: OwnBranchTarget): string {
  return createHash('sha256')
    .update(`${target.namespace} ${placeOf(target)}`)
    .digest('base64')
}
