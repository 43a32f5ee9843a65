/** Returns what was taken to the budget; a second call does nothing. */
export type Release = () => void

/** A budget of `most`: the result takes `size` of it, or returns undefined if less is left. */
export function openBudget(most: number): (size: number) => Release | undefined {
  let taken = 0

  return function take(size) {
    if (taken + size > most) return undefined
    taken += size
    let released = false
    return () => {
      if (!released) taken -= size
      released = true
    }
  }
}
