import { LRUCache } from 'lru-cache'
import type { ObjectId } from '../objects/object.ts'

/** Where the branches of one repository were, as one login has seen them last. */
export interface RememberedTips {
  get(branch: string): ObjectId | undefined
  /** The same, unless another login has seen a later one. */
  latest(branch: string): ObjectId | undefined
  set(branch: string, commit: ObjectId): void
  forget(branch: string): void
}

const MOST = 2_000
/** A branch that nobody writes to any more is forgotten. */
const LIFETIME_MS = 30 * 60_000

/**
 * Remembers the tips of 2,000 branches for half an hour. They are told apart by repository and login, so that nobody is
 * answered from what another's token has seen.
 */
export function rememberTips(): (repository: string, identity: string) => RememberedTips {
  const tips = new LRUCache<string, ObjectId>({ max: MOST, ttl: LIFETIME_MS })
  const latest = new LRUCache<string, ObjectId>({ max: MOST, ttl: LIFETIME_MS })
  return function tipsOf(repository, identity) {
    const keyOf = (branch: string): string => JSON.stringify([repository, identity, branch])
    const branchOf = (branch: string): string => JSON.stringify([repository, branch])
    return {
      get: (branch) => tips.get(keyOf(branch)),
      latest(branch) {
        const seen = latest.get(branchOf(branch))
        const commit = tips.get(keyOf(branch))
        return seen === undefined || seen === commit ? commit : undefined
      },
      set(branch, commit) {
        tips.set(keyOf(branch), commit)
        latest.set(branchOf(branch), commit)
      },
      forget: (branch) => void tips.delete(keyOf(branch)),
    }
  }
}
