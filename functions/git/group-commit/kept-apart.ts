import { openFairCache } from '../../domain/sharing/fair-cache.ts'

/** Namespaces that push to a branch by themselves, because they have kept others from their push. */
export interface KeptApart {
  /** `key`: of the branch and login. */
  readonly has: (namespace: string, key: string) => boolean
  /** For ten minutes, or so many milliseconds. */
  readonly keep: (namespace: string, key: string, milliseconds?: number) => void
  /**
   * For so many milliseconds, or until it has landed by itself; for twice as long, and to the end, where it was on trial in the ten minutes
   * before, and so on: what is refused with others alone would be again.
   */
  readonly keepOnTrial: (namespace: string, key: string, milliseconds: number) => void
  /** It has landed by itself. */
  readonly landed: (namespace: string, key: string) => void
  /** The part of the namespaces that it pushes with, where all of them do not push together; undefined: with all. */
  readonly partOf: (namespace: string, key: string) => string | undefined
  /** For ten minutes. The last part counts. */
  readonly keepIn: (part: string, namespace: string, key: string) => void
}

/** The last time for which a namespace was on trial. */
interface Trial {
  /** How many there were, each in the ten minutes after the one before. */
  readonly number: number
  readonly beganAt: number
  readonly end: number
}

const NO_TRIAL: Trial = { number: 0, beganAt: -Infinity, end: 0 }

/** How long a namespace that has kept others from their push does so by itself. */
const APART_MS = 10 * 60_000
/** Most of them that are remembered, each for a branch; beyond that, the namespace with the most branches loses one. */
const MOST_APART = 1_000

/** Remembers them for ten minutes. `now` is in milliseconds of a clock that is never set. */
export function rememberApart(now: () => number = () => performance.now()): KeptApart {
  const until = openFairCache<number>(MOST_APART)
  const trials = openFairCache<Trial>(MOST_APART)
  const parts = openFairCache<{ readonly part: string; readonly end: number }>(MOST_APART)
  const keyOf = (namespace: string, key: string): string => `${key} ${namespace}`
  const untilIn = (namespace: string, key: string): number => until.get(namespace, keyOf(namespace, key)) ?? 0
  const trialOf = (namespace: string, key: string): Trial =>
    trials.get(namespace, keyOf(namespace, key)) ?? NO_TRIAL
  return {
    has: (namespace, key) => Math.max(untilIn(namespace, key), trialOf(namespace, key).end) > now(),
    keep(namespace, key, milliseconds = APART_MS) {
      const end = Math.max(untilIn(namespace, key), now() + milliseconds)
      until.set(namespace, keyOf(namespace, key), end)
    },
    keepOnTrial(namespace, key, milliseconds) {
      const before = trialOf(namespace, key)
      const number = before.beganAt + APART_MS > now() ? before.number : 0
      const end = now() + Math.min(APART_MS, milliseconds * 2 ** number)
      trials.set(namespace, keyOf(namespace, key), { number: number + 1, beganAt: now(), end })
    },
    landed(namespace, key) {
      const trial = trialOf(namespace, key)
      if (trial.number === 1) trials.set(namespace, keyOf(namespace, key), { ...trial, end: 0 })
    },
    partOf(namespace, key) {
      const found = parts.get(namespace, keyOf(namespace, key))
      return found === undefined || found.end <= now() ? undefined : found.part
    },
    keepIn: (part, namespace, key) =>
      parts.set(namespace, keyOf(namespace, key), { part, end: now() + APART_MS }),
  }
}
