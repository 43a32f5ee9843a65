import { openFairCache } from '../../domain/sharing/fair-cache.ts'
import type { RoundReport } from '../writer/round.ts'

/** How long pushes take, by branch and login, to find out whose commits make those slow that namespaces share. */
export interface PushTimes {
  /**
   * A round of a push has ended. Returns those who push by themselves from now on, and for how many milliseconds. `key`: of
   * the branch and login.
   */
  readonly ended: (key: string, round: Pick<RoundReport, 'namespaces' | 'milliseconds'>) => Separated
}

/** Milliseconds by namespace. */
export type Separated = ReadonlyMap<string, number>

/** A push that takes longer is slow. */
const SLOW_MS = 2_000
/** How long each pushes by itself where nobody knows whose commits are slow: so many times what the push has taken. */
const LEARNING = 5
/** The longest time of that, and how long they push by themselves whose commits are slow. */
const LONGEST_MS = 10 * 60_000
/** How long the time of a push counts. */
const KNOWN_MS = 60 * 60_000
/** Most times that are remembered; beyond that, the namespace with the most branches loses one. */
const MOST_KNOWN = 10_000

const NOBODY: Separated = new Map()

interface Known {
  readonly isSlow: boolean
  readonly until: number
}

/**
 * Hosts and their hooks look at what is pushed, and what they find there decides how long it takes, whoever else has commits
 * in the same push. Where a shared one was slow, each of its namespaces pushes by itself for a while, which shows how long
 * that takes. From then on, those who are slow alone push by themselves where others are quick; where most are slow,
 * the host is, and all go on together. `now` is in milliseconds of a clock that is never set.
 */
export function watchPushTimes(now: () => number = () => performance.now()): PushTimes {
  const times = openFairCache<Known>(MOST_KNOWN)
  const nameOf = (namespace: string, key: string): string => `${key} ${namespace}`

  function isSlow(namespace: string, key: string): boolean | undefined {
    const known = times.get(namespace, nameOf(namespace, key))
    return known === undefined || known.until <= now() ? undefined : known.isSlow
  }

  function learn(namespace: string, key: string, slow: boolean): void {
    times.set(namespace, nameOf(namespace, key), { isSlow: slow, until: now() + KNOWN_MS })
  }

  return {
    ended(key, { namespaces, milliseconds }) {
      const all = [...namespaces]
      const [only] = all
      const wasSlow = milliseconds > SLOW_MS
      if (only !== undefined && all.length === 1) learn(only, key, wasSlow)
      if (all.length < 2 || !wasSlow) return NOBODY
      const slow = all.filter((namespace) => isSlow(namespace, key) === true)
      const quick = all.filter((namespace) => isSlow(namespace, key) === false)
      if (slow.length > Math.max(1, quick.length)) {
        for (const namespace of slow) learn(namespace, key, true)
        return NOBODY
      }
      const isKnown = slow.length > 0 && quick.length > 0
      const length = isKnown ? LONGEST_MS : Math.min(LONGEST_MS, LEARNING * milliseconds)
      return new Map((isKnown ? slow : all).map((namespace) => [namespace, length]))
    },
  }
}
