import { LRUCache } from 'lru-cache'
import { LONGEST_RETRY_AFTER_S } from '../../domain/resource/backoff.ts'

/** Who makes requests, and where. */
export interface Requester {
  /** Equal for what a host may count together: the same login at the same host. */
  readonly login: string
  /** Equal for the same repository. */
  readonly repository: string
  readonly namespace: string
}

/** A limit that a request has met. */
export interface MetLimit extends Requester {
  /** In milliseconds of the clock. */
  readonly ends: number
}

/** Tells whether limits that were met at repositories are limits of the login. */
export interface MetLimits {
  /**
   * How many milliseconds a request elsewhere has to wait: 0, if it may be tried, one at a time. Undefined: nothing says that there is
   * a limit of the login.
   */
  readonly waitOf: (requester: Requester) => number | undefined
  /** This one is tried now. */
  readonly tries: (requester: Requester) => void
  /** Adds one that was met for so many milliseconds. */
  readonly add: (requester: Requester, milliseconds: number) => void
  readonly of: (login: string) => readonly MetLimit[]
  /** A push has worked that began when these were known. */
  readonly disprove: (requester: Requester, known: readonly MetLimit[]) => void
}

/** Most logins with limits; beyond that the least recently used one is forgotten, which costs one request of each namespace. */
const MOST_LOGINS = 1_000
/** Of each login so many namespaces are known: more would hardly make a difference to SPACING_MS. */
const MOST_NAMESPACES = 32
/** Namespaces of which it is known that what they have met was no limit of the login, and for how long. */
const MOST_DISPROVED = 10_000
const DISPROVED_MS = LONGEST_RETRY_AFTER_S * 1_000
/**
 * Where a limit was met at two repositories, for so long after it and after the last one that was tried none is tried, and for so much
 * longer with each further repository: those of ten namespaces that are limited by themselves keep others for 45 s, and a limit of the
 * login for an hour is met by some 40 requests. A namespace that has tried waits for twice as long each time: it may try what
 * tells nothing.
 */
const SPACING_MS = 5_000

interface Tries {
  readonly at: number
  readonly times: number
}

interface LimitedLogin {
  /** The last one of each namespace. */
  readonly met: Map<string, MetLimit>
  /** Of each namespace, since the first limit was met. */
  readonly tries: Map<string, Tries>
  /** When one was tried, or the first limit was met. */
  tried: number
}

/**
 * Hosts limit repositories as well as logins, and a login may be the operator's: what one namespace has met keeps itself from all
 * repositories, and others from none until somebody else has met it at another one. A push that works elsewhere shows that it is none
 * of the login, and then what the namespace meets within an hour is not either. `now` is in milliseconds of a clock that is never set.
 */
export function rememberMetLimits(now: () => number): MetLimits {
  const logins = new LRUCache<string, LimitedLogin>({ max: MOST_LOGINS })
  const disproved = new LRUCache<string, true>({
    max: MOST_DISPROVED,
    ttl: DISPROVED_MS,
    ttlResolution: 0,
    perf: { now },
  })

  function of(login: string): readonly MetLimit[] {
    const met = logins.get(login)?.met ?? new Map<string, MetLimit>()
    for (const { namespace, ends } of met.values()) if (ends <= now()) met.delete(namespace)
    return [...met.values()]
  }

  /** What may be limits of the login. */
  function suspected(login: string): readonly MetLimit[] {
    return of(login).filter((met) => !disproved.has(keyOf(met)))
  }

  /** When the next one may be tried. */
  function nextTry({ login, namespace }: Requester, repositories: number): number {
    const { tried = 0, tries } = logins.get(login) ?? {}
    const { at, times } = tries?.get(namespace) ?? { at: tried, times: 0 }
    const spacing = SPACING_MS * (repositories - 1)
    return Math.max(tried + spacing, at + spacing * 2 ** times)
  }

  return {
    of,
    waitOf(requester) {
      const all = of(requester.login)
      const own = all.find(({ namespace }) => namespace === requester.namespace)
      const isAlone = all.filter(({ repository }) => repository === own?.repository).length === 1
      if (own !== undefined && isAlone) return own.ends - now()
      const those = suspected(requester.login)
      if (those.length === 0) return undefined
      const { size } = new Set(those.map(({ repository }) => repository))
      const over = Math.max(...those.map(({ ends }) => ends))
      return Math.max(0, Math.min(over, nextTry(requester, size)) - now())
    },
    tries({ login, namespace }) {
      const limited = logins.get(login)
      if (limited === undefined) return
      limited.tried = now()
      const { times } = limited.tries.get(namespace) ?? { times: 0 }
      keep(limited.tries, namespace, { at: now(), times: times + 1 })
    },
    add(requester, milliseconds) {
      const { login, namespace } = requester
      const known = logins.get(login)
      const begun = { tries: new Map<string, Tries>(), tried: now() }
      const { tries, tried } = suspected(login).length > 0 && known !== undefined ? known : begun
      const met = known?.met ?? new Map<string, MetLimit>()
      keep(met, namespace, { ...requester, ends: now() + milliseconds })
      logins.set(login, { met, tries, tried })
    },
    disprove({ login, repository }, known) {
      const { met } = logins.get(login) ?? {}
      for (const one of known) {
        if (met?.get(one.namespace) === one) met.delete(one.namespace)
        if (one.repository !== repository) disproved.set(keyOf(one), true)
      }
    },
  }
}

/** As the last one, of MOST_NAMESPACES. */
function keep<V>(those: Map<string, V>, namespace: string, value: V): void {
  those.delete(namespace)
  those.set(namespace, value)
  const [oldest = namespace] = those.keys()
  if (those.size > MOST_NAMESPACES) those.delete(oldest)
}

function keyOf({ login, namespace }: Requester): string {
  return `${login} ${namespace}`
}
