import type { ChangeDraft } from '../../../domain/commit/change.ts'
import type { Release } from '../../../domain/network/budget.ts'
import { branchKey, type BranchTarget } from './branch-place.ts'

/** A change that is on its way, and the namespace of its resource. */
export type ExpectedChange = BranchTarget & Pick<ChangeDraft, 'namespace'>

/** The changes for one branch that are on their way. */
export interface Expected {
  /** Of one namespace: anybody can name a branch, so those of others are no reason to wait. */
  readonly count: (namespace: string) => number
  /** Calls `changed` whenever there is one less, until the result is called. */
  readonly follow: (changed: () => void) => Release
}

/** Counts the changes that are on their way, by branch; the login of a change is not known before it comes. */
export interface ExpectedChanges {
  /** One more; the result is called when it has come, or will not come. */
  readonly expect: (change: ExpectedChange) => Release
  readonly of: (target: BranchTarget) => Expected
}

interface Entry {
  /** By namespace; never zero. */
  readonly counts: Map<string, number>
  readonly followers: Set<() => void>
}

/** Makes a count of nothing; a branch for which nothing is on its way takes no memory. */
export function countExpected(): ExpectedChanges {
  const entries = new Map<string, Entry>()

  return {
    expect({ namespace, ...target }) {
      const key = branchKey(target)
      const entry: Entry = entries.get(key) ?? { counts: new Map(), followers: new Set() }
      const { counts } = entry
      entries.set(key, entry)
      counts.set(namespace, (counts.get(namespace) ?? 0) + 1)
      let isExpected = true
      return () => {
        if (!isExpected) return
        isExpected = false
        const left = (counts.get(namespace) ?? 0) - 1
        if (left > 0) counts.set(namespace, left)
        else counts.delete(namespace)
        if (counts.size === 0) entries.delete(key)
        for (const changed of entry.followers) changed()
      }
    },
    of(target) {
      const entry = entries.get(branchKey(target))
      return {
        count: (namespace) => entry?.counts.get(namespace) ?? 0,
        follow(changed) {
          entry?.followers.add(changed)
          return () => void entry?.followers.delete(changed)
        },
      }
    },
  }
}
