import type { Release } from '../network/budget.ts'

/** What of several owners is under way, and its ends. */
export interface UnderWay {
  /** Counts one of the owner. The result ends it, once. */
  readonly begin: (owner: string) => Release
  readonly count: (owner: string) => number
  /**
   * Resolves when the next one of the owner ends, and never if none is under way. All who wait for it have the same promise, which lives
   * no longer: who waited for each of those that are under way, again and again, would leave something at each of them every time.
   */
  readonly nextEnd: (owner: string) => Promise<undefined>
}

interface Own {
  count: number
  next: PromiseWithResolvers<undefined>
}

/** Nothing yet. */
export function countUnderWay(): UnderWay {
  const all = new Map<string, Own>()

  function end(owner: string, own: Own): void {
    own.count -= 1
    if (own.count === 0) all.delete(owner)
    own.next.resolve(undefined)
    own.next = Promise.withResolvers()
  }

  return {
    begin(owner) {
      const own = all.get(owner) ?? { count: 0, next: Promise.withResolvers<undefined>() }
      own.count += 1
      all.set(owner, own)
      let isUnderWay = true
      return () => {
        if (isUnderWay) end(owner, own)
        isUnderWay = false
      }
    },
    count: (owner) => all.get(owner)?.count ?? 0,
    nextEnd: (owner) => all.get(owner)?.next.promise ?? new Promise(() => undefined),
  }
}
