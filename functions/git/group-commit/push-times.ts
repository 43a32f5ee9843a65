import { LRUCache } from 'lru-cache'
import { openLastingCache } from '../../domain/sharing/lasting-cache.ts'
import type { RoundReport } from '../writer/round.ts'
import type { Slow } from './branch-lines.ts'

/** How long pushes take, by branch and login, to find out whose commits make those slow that namespaces share. */
export interface PushTimes {
  /** A round of a push has ended. Returns who pushes apart from now on. `key`: of the branch and login. */
  readonly ended: (key: string, round: Pick<RoundReport, 'namespaces' | 'milliseconds'>) => Separated
  /** How long a push that these namespaces share may take, in milliseconds, before somebody has made it slow. */
  readonly mostMs: (key: string, namespaces: Iterable<string>) => number
  /** A push that others wait for takes longer than that. */
  readonly isLate: (key: string) => void
  /** How long the host is likely to look at a push of a suspect; 0 of others. */
  readonly slowMs: (namespace: string, key: string) => Slow
  /** Whether it is to push by itself: somebody has made a shared push slow lately, and it is slow, or nothing is known of it. */
  readonly isSuspect: (namespace: string, key: string) => boolean
}

/** Those who push otherwise than with all. */
export interface Separated {
  /** By themselves: for how many milliseconds. */
  readonly alone: ReadonlyMap<string, number>
  /** With a part of the others: its name, which no other part has. */
  readonly parts: ReadonlyMap<string, string>
}

/** A push that takes longer is slow. */
export const SLOW_MS = 2_000
/** A shared one takes no more than so many times what is usual for its namespaces alone, unless somebody makes it slow. */
const UNUSUAL = 2
/** The same where that is short: a busy machine makes short pushes several times as long. */
const UNUSUAL_OF_SHORT = 8
/** No push is slow that takes less. */
const SHORT_MS = 500
/** So many shared pushes one after the other that are not short are reason enough to find out what is usual. */
const MOST_UNKNOWN = 5
/** How long each pushes by itself where nobody knows whose commits are slow: so many times what the push has taken. */
const LEARNING = 5
/** The longest time of that, and how long they push by themselves whose commits are slow. */
const LONGEST_MS = 10 * 60_000
/** How long the time of a push counts. */
const KNOWN_MS = 60 * 60_000
/** Most times that are remembered; beyond that, the namespace with the most branches loses one. */
const MOST_KNOWN = 10_000
/**
 * Most branches and logins of which is remembered that a shared push was slow, and who has pushed there by itself; beyond that, the
 * least recently used one is forgotten.
 */
const MOST_BRANCHES = 1_000
/** Of the namespaces that have pushed to a branch by themselves, the latest say what is usual there. */
const MOST_COMPARED = 64

const NOBODY: Separated = { alone: new Map(), parts: new Map() }

/** What is known of a namespace. */
interface Known {
  /**
   * What its last push by itself took, or the slowest one since it is kept apart. Undefined: it had none since a push was slow in which
   * others were quick alone.
   */
  readonly milliseconds: number | undefined
  /** Until then it pushes by itself, because it is slow. */
  readonly apartUntil: number
}

const UNKNOWN: Known = { milliseconds: undefined, apartUntil: 0 }

/**
 * Hosts and their hooks look at what is pushed, and what they find there decides how long it takes, whoever else has commits
 * in the same push. Where a shared one was slow, each of its namespaces pushes by itself for a while, which shows how long
 * that takes. From then on, those who are slow alone, or of whom that is not known, push by themselves where others are
 * quick, and are slow for as long as they stay so; where nearly all are slow, the host is, and all go on together. Where all are
 * quick alone, one of them may be slow only with others: they push in two halves, which are halved again where one is slow,
 * until whoever it is keeps nobody from their push. After a slow push, others of whom nothing is known push by themselves first, so
 * that ten of them, one after the other, do not make ten shared pushes slow. `now` is in milliseconds of a clock that is never set.
 */
export function watchPushTimes(now: () => number = () => performance.now()): PushTimes {
  const times = openLastingCache<Known>(MOST_KNOWN, KNOWN_MS, now)
  /** Until when a shared push that was slow counts. */
  const slowPushes = new LRUCache<string, number>({ max: MOST_BRANCHES })
  const namespacesAt = new LRUCache<string, LRUCache<string, true>>({ max: MOST_BRANCHES })
  /** How many shared pushes in a row were not short, although nothing is known of how long they take alone. */
  const longPushes = new LRUCache<string, number>({ max: MOST_BRANCHES })
  let halvings = 0
  const nameOf = (namespace: string, key: string): string => `${key} ${namespace}`

  function knownOf(namespace: string, key: string): Known | undefined {
    return times.get(namespace, nameOf(namespace, key))
  }

  function isSuspect(namespace: string, key: string): boolean {
    return wasSlow(key) && (knownOf(namespace, key)?.milliseconds ?? Infinity) > mostMs(key)
  }

  function wasSlow(key: string): boolean {
    return (slowPushes.get(key) ?? 0) > now()
  }

  function usualMs(key: string): number {
    const namespaces = [...(namespacesAt.get(key)?.keys() ?? [])]
    return usualOf(namespaces.flatMap((namespace) => knownOf(namespace, key)?.milliseconds ?? []))
  }

  function mostMs(key: string): number {
    const usual = usualMs(key)
    if (usual > 0) return mostBeside(usual)
    return (longPushes.get(key) ?? 0) >= MOST_UNKNOWN ? SHORT_MS : SLOW_MS
  }

  /** What those take of whom it is known may be their own doing: others do not wait for longer because of it. */
  function mostOf(key: string, namespaces: Iterable<string>): number {
    const isKnown = (namespace: string): boolean => knownOf(namespace, key)?.milliseconds !== undefined
    return [...namespaces].every(isKnown) ? mostMs(key) : Math.min(SLOW_MS, mostMs(key))
  }

  function isLate(key: string): void {
    slowPushes.set(key, now() + LONGEST_MS)
  }

  function learn(namespace: string, key: string, known: Known): void {
    times.set(namespace, nameOf(namespace, key), known)
  }

  function endedAlone(namespace: string, key: string, milliseconds: number): Separated {
    const { milliseconds: before = 0, apartUntil } = knownOf(namespace, key) ?? UNKNOWN
    const isApart = apartUntil > now()
    learn(namespace, key, {
      milliseconds: isApart ? Math.max(before, milliseconds) : milliseconds,
      apartUntil,
    })
    const all = namespacesAt.get(key) ?? new LRUCache<string, true>({ max: MOST_COMPARED })
    namespacesAt.set(key, all)
    all.set(namespace, true)
    const isSlow = milliseconds > SLOW_MS && isApart
    const usual = wasSlow(key) ? usualMs(key) : 0
    const isSlower = usual > 0 && milliseconds > mostBeside(usual)
    return isSlow || isSlower ? separate([namespace], key) : NOBODY
  }

  function separate(slow: readonly string[], key: string): Separated {
    const apartUntil = now() + LONGEST_MS
    for (const namespace of slow)
      learn(namespace, key, { ...(knownOf(namespace, key) ?? UNKNOWN), apartUntil })
    return { ...NOBODY, alone: new Map(slow.map((namespace) => [namespace, LONGEST_MS])) }
  }

  /** Who is not known although others are has not pushed while it did so by itself. */
  function suspect(strangers: readonly string[], key: string, learning: number): Separated {
    const again = strangers.filter((namespace) => knownOf(namespace, key) !== undefined)
    for (const namespace of strangers) learn(namespace, key, knownOf(namespace, key) ?? UNKNOWN)
    const { alone } = separate(again, key)
    return { ...NOBODY, alone: new Map([...strangers.map((one) => [one, learning] as const), ...alone]) }
  }

  function halve(all: readonly string[]): Separated {
    halvings += 1
    const middle = Math.ceil(all.length / 2)
    const partOf = (i: number): string => `${i < middle ? 'first' : 'second'} half ${halvings}`
    return { ...NOBODY, parts: new Map(all.map((namespace, i) => [namespace, partOf(i)])) }
  }

  return {
    ended(key, { namespaces, milliseconds }) {
      const all = [...namespaces]
      const [only] = all
      if (only !== undefined && all.length === 1) return endedAlone(only, key, milliseconds)
      const most = mostMs(key)
      longPushes.set(key, milliseconds > SHORT_MS && usualMs(key) === 0 ? (longPushes.get(key) ?? 0) + 1 : 0)
      if (milliseconds <= Math.min(SLOW_MS, most)) return NOBODY
      const took = (namespace: string): number | undefined => knownOf(namespace, key)?.milliseconds
      if (milliseconds <= most) {
        for (const namespace of all) {
          const known = knownOf(namespace, key)
          if (known !== undefined) learn(namespace, key, known)
        }
        return NOBODY
      }
      isLate(key)
      const quick = all.filter((namespace) => (took(namespace) ?? Infinity) <= most)
      const slow = all.filter((namespace) => (took(namespace) ?? 0) > most)
      const learning = Math.min(LONGEST_MS, LEARNING * milliseconds)
      if (quick.length === 0) return { ...NOBODY, alone: new Map(all.map((one) => [one, learning])) }
      if (slow.length > 0) return separate(slow, key)
      const strangers = all.filter((namespace) => took(namespace) === undefined)
      return strangers.length > 0 ? suspect(strangers, key, learning) : halve(all)
    },
    mostMs: mostOf,
    isLate,
    slowMs: (namespace, key) =>
      isSuspect(namespace, key) ? (knownOf(namespace, key)?.milliseconds ?? 'unknown') : 0,
    isSuspect,
  }
}

/** What a sixth of them takes at most, and two, or half of few; 0 where only one is known, who may be the slow one. */
function usualOf(times: readonly number[]): number {
  const others = times.length - 1
  const place = Math.max(Math.min(1, Math.floor(others / 2)), Math.floor(others / 6))
  return others < 1 ? 0 : (times.toSorted((a, b) => a - b)[place] ?? 0)
}

/** What is not unusual beside that: longer pushes are slow. */
function mostBeside(usual: number): number {
  const ofShort = Math.max(SHORT_MS, UNUSUAL_OF_SHORT * usual)
  return Math.max(Math.min(SLOW_MS, ofShort), UNUSUAL * usual)
}
