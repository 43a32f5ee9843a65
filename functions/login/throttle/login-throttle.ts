import { LRUCache } from 'lru-cache'
import { anySignal } from '../../domain/deadline.ts'
import { makeAllowance } from '../../domain/sharing/allowance.ts'
import { Failure } from '../../domain/failure.ts'
import type { Line } from './line.ts'
import { openPlaces, type Place } from './places.ts'

/** A log-in that is about to be tried. */
export interface LogIn {
  readonly namespace: string
  readonly host: string
  /** Other names of the server: the same ones, whatever name of the host was written. Left out: none are known. */
  readonly servers?: readonly string[] | undefined
  /** Equal for the same credential at the same host. */
  readonly login: string
  /** Equal for the same repository and the same way to it: a login may work at one, and be refused at another. */
  readonly at: string
  /**
   * Equal for those of the same login of which one logs in for all, one after the other; undefined: this one logs in
   * itself.
   */
  readonly shared: string | undefined
  readonly signal: AbortSignal
}

/** Bounds the log-ins that fail. */
export interface LoginThrottle {
  /**
   * Does work that logs in, until its signal fires. Throws AuthenticationFailed without doing it if too many log-ins of the
   * namespace have failed at the host. A login that has worked lately at the same repository is not held back, unless as many
   * of those have failed there: whoever may end tokens can have any number of them work, and then fail. Where one logs in for
   * several and fails, the signals of the others fire with that failure: in a queue for a push each would log in by itself.
   * `proves`: whether the result shows that the login works. Default: any does.
   */
  readonly run: <T>(
    logIn: LogIn,
    work: (signal: AbortSignal) => Promise<T>,
    proves?: (result: T) => boolean,
  ) => Promise<T>
}

/**
 * Beyond FAILED_LOGINS one log-in of a namespace may fail at a host in this time. Hosts lock out the address of a pod, and so
 * everybody, after ten in a minute or so: GitLab's default for Git, for example.
 */
const PERIOD_MS = 30_000
/** Most logins that are remembered; beyond that the least recently used one is forgotten. */
const REMEMBERED = 10_000

/** A log-in that is being tried, for one or more that share it. */
interface Tried {
  /** Namespace, login and what is shared; undefined: nobody else takes part. */
  readonly key: string | undefined
  readonly places: readonly Place<Tried>[]
  count: number
  /** Fires when it has failed. */
  readonly failing: AbortController
}

/** Makes one that remembers nothing yet. `mostFailed`: FAILED_LOGINS. `now` is in milliseconds of a clock that is never set. */
export function makeLoginThrottle(mostFailed: number, now: () => number): LoginThrottle {
  /** Logins that have worked at a repository, and have not failed there since. */
  const worked = new LRUCache<string, true>({ max: REMEMBERED })
  const places = openPlaces<Tried>(mostFailed, () => makeAllowance(mostFailed, 1_000 / PERIOD_MS, now))
  const shared = new Map<string, Tried>()
  let tickets = 0

  /** Waits until the login may be tried; undefined: it has worked there. */
  async function enter(logIn: LogIn): Promise<Tried | undefined> {
    const ticket = (tickets += 1)
    let line: Line | undefined
    try {
      for (;;) {
        const next = takePart(logIn)
        if (!('waitsFor' in next)) return next.tried
        if (line !== next.waitsFor) line?.wakeNext()
        line = next.waitsFor
        await line.wait(ticket, logIn.signal, outOfTime)
      }
    } finally {
      line?.wakeNext()
    }
  }

  /** Takes part in what is being tried, or begins to try it, unless something else has to end before. */
  function takePart(logIn: LogIn): { readonly tried: Tried | undefined } | { readonly waitsFor: Line } {
    const those = places.of(logIn)
    const isTrusted = worked.get(placeKey(logIn)) === true
    if (isTrusted && those.every(({ trusted }) => trusted.left() >= 1)) return { tried: undefined }
    const key = keyOf(logIn)
    const same = key === undefined ? undefined : shared.get(key)
    if (same?.failing.signal.aborted === false) return { tried: count(same) }
    const full = those.filter(({ allowance, tried }) => allowance.left() - tried.size < 1)
    const spent = full.find(({ tried }) => tried.size === 0)
    const [first] = same?.places ?? full
    if (first === undefined) return { tried: begin(logIn, key, those) }
    if (spent !== undefined) throw throttled(logIn, spent)
    return { waitsFor: first.line }
  }

  function begin({ namespace }: LogIn, key: string | undefined, those: readonly Place<Tried>[]): Tried {
    const tried = { key, places: those, count: 0, failing: new AbortController() }
    if (key !== undefined) shared.set(key, tried)
    for (const place of those) place.tried.add(tried)
    places.keep(namespace, those)
    return count(tried)
  }

  function leave(logIn: LogIn, tried: Tried): void {
    tried.count -= 1
    if (tried.count > 0) return
    const { namespace } = logIn
    if (tried.key !== undefined) shared.delete(tried.key)
    for (const place of tried.places) place.tried.delete(tried)
    places.forget(namespace, tried.places)
    for (const { line } of tried.places) line.wakeNext()
  }

  function record(logIn: LogIn, tried: Tried | undefined, error: unknown): void {
    if (!(error instanceof Failure) || error.reason !== 'AuthenticationFailed') return
    // It was not tried (server-penalties.ts).
    if (error.retry === 'transient') return
    worked.delete(placeKey(logIn))
    if (tried?.failing.signal.aborted === true) return
    const those = tried?.places ?? places.of(logIn)
    for (const { allowance, trusted } of those) {
      allowance.spend(1)
      if (tried === undefined) trusted.spend(1)
    }
    places.keep(logIn.namespace, those)
    tried?.failing.abort(error)
  }

  return {
    async run(logIn, work, proves = () => true) {
      const tried = await enter(logIn)
      try {
        const { signal } = logIn
        const result = await work(tried === undefined ? signal : anySignal([signal, tried.failing.signal]))
        if (proves(result)) worked.set(placeKey(logIn), true)
        return result
      } catch (error) {
        record(logIn, tried, error)
        throw error
      } finally {
        if (tried !== undefined) leave(logIn, tried)
      }
    },
  }
}

function placeKey({ login, at }: LogIn): string {
  return `${login} ${at}`
}

function keyOf({ namespace, login, shared }: LogIn): string | undefined {
  return shared === undefined ? undefined : `${namespace} ${login} ${shared}`
}

function count(tried: Tried): Tried {
  tried.count += 1
  return tried
}

/** Who waits to log in until its attempt ends. */
export function outOfTime(cause: unknown): Failure {
  const message = 'The attempt ran out of time before it could log in; Commitlet retries automatically.'
  return new Failure('Timeout', message, { cause })
}

function throttled({ namespace, host }: LogIn, { allowance, name }: Place<Tried>): Failure {
  const where = name === host ? 'there' : 'there, or at other names that may be the same server,'
  const message = `Logging in at ${host} was not tried, because too many log-ins of the namespace ${namespace} have failed ${where} lately, and the host could lock out everybody; fix the credentials of its resources. Commitlet retries automatically.`
  const retryAfterSeconds = Math.ceil(((1 - allowance.left()) * PERIOD_MS) / 1000)
  return new Failure('AuthenticationFailed', message, { retry: 'transient', retryAfterSeconds })
}
