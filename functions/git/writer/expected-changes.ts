import type { ChangeDraft } from '../../domain/commit/change.ts'
import type { Release } from '../../domain/network/budget.ts'

/** The branch that a change is for. */
export type BranchTarget = Pick<ChangeDraft, 'repository' | 'branch'>

/** The changes for one branch that are on their way. */
export interface Expected {
  readonly count: () => number
  /** Calls `changed` whenever there is one less, until the result is called. */
  readonly follow: (changed: () => void) => Release
}

/** Counts the changes that are on their way, by branch; the login of a change is not known before it comes. */
export interface ExpectedChanges {
  /** One more; the result is called when it has come, or will not come. */
  readonly expect: (target: BranchTarget) => Release
  readonly of: (target: BranchTarget) => Expected
}

interface Entry {
  count: number
  readonly followers: Set<() => void>
}

/** Makes a count of nothing; a branch for which nothing is on its way takes no memory. */
export function countExpected(): ExpectedChanges {
  const entries = new Map<string, Entry>()

  return {
    expect(target) {
      const key = branchKey(target)
      const entry = entries.get(key) ?? { count: 0, followers: new Set() }
      entries.set(key, entry)
      entry.count += 1
      let isExpected = true
      return () => {
        if (!isExpected) return
        isExpected = false
        entry.count -= 1
        if (entry.count === 0) entries.delete(key)
        for (const changed of entry.followers) changed()
      }
    },
    of(target) {
      const entry = entries.get(branchKey(target))
      return {
        count: () => entry?.count ?? 0,
        follow(changed) {
          entry?.followers.add(changed)
          return () => void entry?.followers.delete(changed)
        },
      }
    },
  }
}

/** A key of the branch, whatever the login. */
export function branchKey({ repository, branch }: BranchTarget): string {
  return JSON.stringify([repository.text, branch ?? null])
}
