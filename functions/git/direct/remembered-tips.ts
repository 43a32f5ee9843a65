import { ownCopy } from '../../domain/own-copy.ts'
import { openLastingCache } from '../../domain/sharing/lasting-cache.ts'
import type { ObjectId } from '../objects/object.ts'

/** Where the branches of one repository were, and which one is its default branch, as one login has seen them last. */
export interface RememberedTips {
  get(branch: string): ObjectId | undefined
  /** The same, unless another login has seen a later one. */
  latest(branch: string): ObjectId | undefined
  set(branch: string, commit: ObjectId): void
  forget(branch: string): void
  /** The full name of the ref that HEAD has pointed to; empty if it pointed to none, or to one with too long a name. */
  getHead(): string | undefined
  setHead(ref: string): void
}

const MOST = 2_000
/** Letters of the name of a branch that a spec may have, with `refs/heads/`; a server may send 64 KiB. */
const LONGEST_REF = 'refs/heads/'.length + 255
/** A branch that nobody writes to any more is forgotten. */
const LIFETIME_MS = 30 * 60_000

/** Those of a repository, as a login has seen them, in a session of the namespace. */
export type TipsOf = (repository: string, identity: string, namespace: string) => RememberedTips

/**
 * Remembers the tips of 2,000 branches, and as many default branches, for half an hour; beyond that, the namespace that has the
 * most loses its own. They are told apart by repository and login, so that nobody is answered from what another's token has seen.
 */
export function rememberTips(): TipsOf {
  const tips = openLastingCache<ObjectId>(MOST, LIFETIME_MS)
  const latest = openLastingCache<ObjectId>(MOST, LIFETIME_MS)
  const heads = openLastingCache<string>(MOST, LIFETIME_MS)
  return function tipsOf(repository, identity, namespace) {
    const keyOf = (branch: string): string => JSON.stringify([repository, identity, branch])
    const repositoryKey = JSON.stringify([repository, identity])
    const branchOf = (branch: string): string => JSON.stringify([repository, branch])
    const get = (branch: string): ObjectId | undefined => tips.get(namespace, keyOf(branch))
    return {
      get,
      latest(branch) {
        const seen = latest.get(namespace, branchOf(branch))
        const commit = get(branch)
        return seen === undefined || seen === commit ? commit : undefined
      },
      set(branch, commit) {
        // It is a part of the server's line, which may have 64 KiB.
        const own = ownCopy(commit)
        tips.set(namespace, keyOf(branch), own)
        latest.set(namespace, branchOf(branch), own)
      },
      forget(branch) {
        tips.forget(namespace, keyOf(branch))
      },
      getHead: () => heads.get(namespace, repositoryKey),
      setHead: (ref) => heads.set(namespace, repositoryKey, ref.length > LONGEST_REF ? '' : ownCopy(ref)),
    }
  }
}
