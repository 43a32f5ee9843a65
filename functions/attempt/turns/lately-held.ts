import { makeAllowances } from '../../domain/sharing/allowances.ts'

/** For how long namespaces have held shares lately. */
export interface LatelyHeld {
  /** Lower for those who are next; the same for all who have held about as much. */
  readonly rankOf: (namespace: string) => number
  /** A share of this namespace has ended after so many milliseconds. */
  readonly add: (namespace: string, milliseconds: number) => void
}

/** Of each second a quarter does not count. */
const MS_PER_SECOND = 250
/** Who differs by less has held about as much. */
const SAME_MS = 1_000
/** The most that is remembered: ten minutes, a second of which is forgotten in four. */
const MOST_MS = 600_000

/** Nobody has held any. `now` is in milliseconds of a clock that is never set. */
export function rememberLatelyHeld(now: () => number): LatelyHeld {
  const shares = makeAllowances(0, MS_PER_SECOND, now)
  return {
    rankOf: (namespace) => Math.floor(-(shares.known(namespace)?.left() ?? 0) / SAME_MS),
    add(namespace, milliseconds) {
      const share = shares.of(namespace)
      share.spend(Math.min(milliseconds, MOST_MS + share.left()))
    },
  }
}
