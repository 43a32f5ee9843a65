import { setTimeout as pause } from 'node:timers/promises'
import { digestOf } from '../../domain/credentials/digest.ts'
import { Failure } from '../../domain/failure.ts'
import { openKeyedTurns } from '../../domain/sharing/keyed-turns.ts'
import { rememberMetLimits, type Requester } from './met-limits.ts'
import { makeRateLimits } from './rate-limits.ts'

/** A request to a Git host. */
export interface LimitedRequest extends Requester {
  /** As messages show it. */
  readonly host: string
  readonly signal: AbortSignal
  /** Its user may know that a limit is over: it waits for none. */
  readonly isRequested: boolean
}

/** Keeps requests from hosts that have asked for fewer. */
export interface RepositoryLimits {
  /**
   * Does work that makes the request. Throws what `work` throws, and RateLimited without a request while a limit lasts that the host
   * has told of at the repository, or that seems to be one of the login. Where it is not known which of both it is, one is tried
   * at a time; throws Timeout if the signal fires before. `proves`: whether the result shows that the host takes pushes of the login.
   */
  readonly run: <T>(
    request: LimitedRequest,
    work: () => Promise<T>,
    proves: (result: T) => boolean,
  ) => Promise<T>
}

/** What they are made with. */
export interface LimitTerms {
  /** Milliseconds of a clock that is never set. */
  readonly elapsed: () => number
  readonly wait?: (milliseconds: number) => Promise<unknown>
  /** Whether an error tells of a limit of its namespace alone. Default: none does. */
  readonly isOwnLimit?: (error: unknown) => boolean
}

/** For how long one that is tried keeps others waiting, in milliseconds: hosts tell a limit at once. */
const LONGEST_TRY_MS = 2_000

/** Makes one that knows of no limits yet. */
export function makeRepositoryLimits({
  elapsed,
  wait = (milliseconds) => pause(milliseconds, undefined, { ref: false }),
  isOwnLimit = () => false,
}: LimitTerms): RepositoryLimits {
  const limits = makeRateLimits(elapsed)
  const met = rememberMetLimits(elapsed)
  const inTurn = openKeyedTurns(1, elapsed)

  /** Whether it may only be tried, one at a time. Throws if it has to wait. */
  function isTry(request: LimitedRequest): boolean {
    const wait = met.waitOf(request)
    const waitMs = Math.max(limits.left(placeOf(request)), wait ?? 0)
    if (waitMs > 0) throw limited(request, waitMs)
    return wait !== undefined
  }

  async function make<T>(
    request: LimitedRequest,
    work: () => Promise<T>,
    proves: (result: T) => boolean,
  ): Promise<T> {
    const place = placeOf(request)
    const known = met.of(request.login)
    const wasLimited = limits.left(place) > 0
    try {
      const result = await work()
      if (proves(result)) met.disprove(request, known)
      return result
    } catch (error) {
      if (isOwnLimit(error)) throw error
      limits.record(place, error)
      const isLimit = error instanceof Failure && error.reason === 'RateLimited'
      // Otherwise whoever requests the same again and again would have others wait for it.
      if (isLimit && !wasLimited && limits.left(place) > 0) met.add(request, limits.left(place))
      throw error
    }
  }

  return {
    async run(request, work, proves) {
      const { login, namespace, signal, isRequested } = request
      if (isRequested || !isTry(request)) return make(request, work, proves)
      const late = (cause: unknown): Failure => outOfTime(request, cause)
      return inTurn({ key: login, owner: namespace, signal, late }, async (turn) => {
        if (isTry(request)) {
          met.tries(request)
          void wait(LONGEST_TRY_MS).then(turn.leave)
        } else turn.leave()
        return make(request, work, proves)
      })
    },
  }
}

function placeOf({ login, repository }: Requester): string {
  return digestOf(login, repository)
}

function limited({ host }: LimitedRequest, milliseconds: number): Failure {
  const message = `${host} has asked for fewer requests; Commitlet retries later.`
  return new Failure('RateLimited', message, { retryAfterSeconds: Math.ceil(milliseconds / 1_000) })
}

function outOfTime({ host }: LimitedRequest, cause: unknown): Failure {
  const message = `The attempt ran out of time before it could call ${host}, which has asked for fewer requests; Commitlet retries automatically.`
  return new Failure('Timeout', message, { cause })
}
