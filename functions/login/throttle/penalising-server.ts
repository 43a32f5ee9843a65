import { LRUCache } from 'lru-cache'
import { makeAllowance, type Allowance } from '../../domain/sharing/allowance.ts'
import type { Release } from '../../domain/network/budget.ts'
import { makeRounds } from '../../domain/sharing/rounds.ts'

/** What a server remembers of an address for a while, in seconds: of a log-in that it refuses, and of a connection without one. */
interface Penalty {
  readonly refused: number
  readonly unused: number
}

/**
 * OpenSSH since 9.8: sshd_config(5), PerSourcePenalties, authfail:5s noauth:1s. They add up, and it closes all connections of an
 * address of which it remembers more than min:15s. Older ones have programs beside them that read their log.
 */
const OPENSSH: Penalty = { refused: 5, unused: 1 }
/** Of the servers of large hosts, which count by the account. */
const OTHERS: Penalty = { refused: 1, unused: 0.2 }
const MOST = 15
/** Of that, for a namespace of which no login has worked there yet. */
const MOST_OF_STRANGER = 10
/** For one that has made a log-in fail there, as with a key that somebody is about to put right, or before a fallback. */
const MOST_OF_OFFENDER = 9
/** And for one that has made more fail, which is the less the more it has: only while the server remembers nothing. */
const LEAST = 5
const LESS_FOR_CAUSED = 0.25
/** What a namespace has caused is forgotten in so many times the time in which the server forgets it. */
const FORGOTTEN_IN = 120
const MOST_CAUSED = 60
/** Whoever may end keys can have many fail at once that have worked: after so many in ten minutes, none of the namespace counts as such. */
const MOST_ENDED = 2
const ENDED_FORGOTTEN_IN_S = 600
/** Logins that work may end again and again before they are refused or not, such as with their thread: after the first one, for so long. */
const TORN_FORGOTTEN_IN_S = 600
/** And while the server remembers so much, none of the namespace is tried: logins that have not worked yet go on. */
const MOST_WITH_TORN = 5
/** The default of FAILED_LOGINS. An operator who allows more knows that the hosts do. */
const USUALLY_FAILED = 8
/** Of namespaces, and of what has worked. A cache with `max` takes its whole memory at once: 50 KB for each of 1,000 servers. */
const REMEMBERED = { maxSize: 1_000, sizeCalculation: () => 1 } as const

/** What a namespace has made fail. */
interface Standing {
  /** What is left of MOST_CAUSED, of MOST_ENDED, and of one that may be torn. */
  readonly caused: Allowance
  readonly ended: Allowance
  readonly torn: Allowance
}

type Waiter = () => void

/** Whose login it is; `login` is equal for the same one with the same host keys. */
export interface LoginOf {
  readonly namespace: string
  readonly login: string
}

/** It was refused, the connection has ended without it, or it took so long that it had to give way to others. */
export type FailedLogIn = 'refused' | 'unused' | 'slow'

/** What is known of one SSH server at an address. */
export interface PenalisingServer {
  /** By what it says that it is: RFC 4253, section 4.2. */
  readonly says: (software: string) => void
  /**
   * By how many seconds a log-in that fails would bring more than it may: by what the server remembers, and with what is tried: of
   * a login that has worked there, by its namespace alone, unless such logins of it have ended without being refused or not.
   */
  readonly excessOf: (who: LoginOf) => { readonly remembered: number; readonly all: number }
  /** Counts a log-in as being tried, until the result is called once. */
  readonly begin: (who: LoginOf) => Release
  /**
   * Resolves when one that is being tried has ended: first for namespaces that have made nothing fail, of each of them for one
   * after the other. Never, and nobody waits any more, if the signal fires before.
   */
  readonly freed: (namespace: string, signal: AbortSignal) => Promise<undefined>
  /** Whether another namespace waits for this one to end, as it does only for logins that have not worked there. */
  readonly isWaitedFor: (who: LoginOf) => boolean
  /** Whether it remembers nothing by now of log-ins that have failed. */
  readonly hasForgotten: () => boolean
  readonly hasWorked: (who: LoginOf) => void
  readonly hasFailed: (who: LoginOf, how: FailedLogIn) => void
  /** Whether log-ins of this namespace have failed there lately. */
  readonly hasCaused: (namespace: string) => boolean
}

/** One of which nothing is known. `mostFailed`: FAILED_LOGINS. `elapsed`: milliseconds of a clock that is never set. */
export function makePenalisingServer(mostFailed: number, elapsed: () => number): PenalisingServer {
  const part = Math.min(1, USUALLY_FAILED / mostFailed)
  const left = makeAllowance(MOST, 1, elapsed)
  const standings = new LRUCache<string, Standing>(REMEMBERED)
  // Namespaces and logins.
  const worked = new LRUCache<string, true>(REMEMBERED)
  // The most that is known of, until it has said what it is.
  let penalty = partOf(OPENSSH, part)
  // How many are tried of those that have not worked there, of those that have where some of the namespace were torn, and by each.
  let [strange, torn] = [0, 0]
  const triedBy = new Map<string, number>()
  const waiting = makeRounds<Waiter>((namespace) => (causedBy(namespace) > 0 ? 1 : 0))

  function causedBy(namespace: string): number {
    return MOST_CAUSED - (standings.get(namespace)?.caused.left() ?? MOST_CAUSED)
  }

  function isTrusted({ namespace, login }: LoginOf): boolean {
    return worked.has(login) && (standings.get(namespace)?.ended.left() ?? MOST_ENDED) >= 1
  }

  function mostOf(namespace: string): number {
    const caused = causedBy(namespace)
    if (caused === 0) return worked.has(namespace) ? MOST : MOST_OF_STRANGER
    const beyond = Math.max(0, caused - OPENSSH.refused)
    return Math.max(LEAST, MOST_OF_OFFENDER - LESS_FOR_CAUSED * beyond)
  }

  function standingOf(namespace: string): Standing {
    const standing = standings.get(namespace) ?? {
      caused: makeAllowance(MOST_CAUSED, 1 / FORGOTTEN_IN, elapsed),
      ended: makeAllowance(MOST_ENDED, MOST_ENDED / ENDED_FORGOTTEN_IN_S, elapsed),
      torn: makeAllowance(1, 1 / TORN_FORGOTTEN_IN_S, elapsed),
    }
    standings.set(namespace, standing)
    return standing
  }

  function isTorn(namespace: string): boolean {
    return (standings.get(namespace)?.torn.left() ?? 1) < 1
  }

  function count(namespace: string, step: 1 | -1): void {
    const all = (triedBy.get(namespace) ?? 0) + step
    if (all === 0) triedBy.delete(namespace)
    else triedBy.set(namespace, all)
  }

  function wakeAll(): void {
    for (let next = waiting.next(); next !== undefined; next = waiting.next()) next()
  }

  return {
    says(software) {
      penalty = partOf(software.startsWith('SSH-2.0-OpenSSH') ? OPENSSH : OTHERS, part)
    },
    excessOf(who) {
      if (isTrusted(who)) {
        const own = penalty.refused * (1 + (triedBy.get(who.namespace) ?? 0)) - MOST
        const remembered = isTorn(who.namespace)
          ? MOST - left.left() + penalty.unused - MOST_WITH_TORN
          : -MOST
        return { remembered, all: Math.max(own, remembered + penalty.unused * torn) }
      }
      const remembered = MOST - left.left() + penalty.refused - mostOf(who.namespace)
      return { remembered, all: remembered + penalty.refused * strange }
    },
    begin(who) {
      const { namespace } = who
      const isStrange = !isTrusted(who)
      const isOneOfTorn = !isStrange && isTorn(namespace)
      if (isStrange) strange += 1
      if (isOneOfTorn) torn += 1
      count(namespace, 1)
      return () => {
        if (isStrange) strange -= 1
        if (isOneOfTorn) torn -= 1
        count(namespace, -1)
        wakeAll()
      }
    },
    freed(namespace, signal) {
      const { promise, resolve } = Promise.withResolvers<undefined>()
      const leave = (): void => waiting.remove(namespace, end)
      function end(): void {
        signal.removeEventListener('abort', leave)
        resolve(undefined)
      }
      if (!signal.aborted) waiting.add(namespace, end)
      signal.addEventListener('abort', leave, { once: true })
      return promise
    },
    isWaitedFor: (who) => !isTrusted(who) && waiting.owners() > (waiting.has(who.namespace) ? 1 : 0),
    hasForgotten: () => left.left() >= MOST,
    hasWorked: ({ login, namespace }) => void worked.set(login, true).set(namespace, true),
    hasFailed(who, how) {
      const { namespace, login } = who
      left.spend(how === 'refused' ? penalty.refused : penalty.unused)
      const { caused, ended, torn } = standingOf(namespace)
      if (how === 'unused' && isTrusted(who)) torn.spend(torn.left())
      // Others have waited for one that was slow, as they do for one that is refused.
      caused.spend(Math.min(how === 'unused' ? penalty.unused : penalty.refused, caused.left()))
      if (how === 'refused' && worked.delete(login)) ended.spend(1)
    },
    hasCaused: (namespace) => causedBy(namespace) > 0,
  }
}

function partOf({ refused, unused }: Penalty, part: number): Penalty {
  return { refused: part * refused, unused: part * unused }
}
