import { createHash } from 'node:crypto'
import { makeRateLimits } from './rate-limits.ts'
import type { ApiLogin } from '../domain/credentials/login.ts'
import { Failure } from '../domain/failure.ts'
import { guardedPullRequests } from '../domain/pull-request/guarded-pull-requests.ts'
import type { ApiTarget, Connect, WithPullRequests } from '../domain/pull-request/pull-requests.ts'
import { openHTTP } from '../http/http.ts'
import type { HTTPSettings } from '../http/http.ts'
import { makeKeyedSemaphore } from './keyed-semaphore.ts'

/** One file per row of domain/hosts.ts, each loaded when it is first needed. The addresses are for the bundler to see. */
export const PROVIDERS: Readonly<Record<string, () => Promise<{ readonly default: Connect }>>> = {
  github: () => import('../providers/github/index.ts'),
  gitlab: () => import('../providers/gitlab/index.ts'),
  bitbucket: () => import('../providers/bitbucket/index.ts'),
  gitea: () => import('../providers/gitea/index.ts'),
}

/**
 * How many attempts call at once with the same token: GitHub asks for one request after the other ("Best practices
 * for using the REST API"), and what all have asked before the first is told of a limit is refused to all. With one
 * alone, a call that hangs would hold all others up.
 */
const CALLERS = 2

/** Makes the way to all APIs. `now` in milliseconds. */
export function openProviders(settings: HTTPSettings, now: () => number): WithPullRequests {
  const limits = makeRateLimits(now)
  const alone = makeKeyedSemaphore(1)
  const few = makeKeyedSemaphore(CALLERS)
  const withAPI = openHTTP(settings)
  return async function withPullRequests(target, { login, signal }, work) {
    const { host, baseURL } = target
    const load = PROVIDERS[host.name]
    if (load === undefined)
      throw new Failure('NotSupported', `Pull requests on ${host.name} are not supported yet.`)
    const { default: connect } = await load()
    const limit = limitOf(baseURL, login)
    const waiting = waitingUntil(signal, target)
    const call = async (): ReturnType<typeof work> => {
      waiting.end()
      limits.check(limit)
      return withAPI(baseURL, signal, (fetch) =>
        work(guardedPullRequests(connect({ ...target, fetch }, login), { login, shown: target.shown })),
      ).catch((error: unknown) => {
        throw limits.record(limit, error)
      })
    }
    const result = alone(keyOf(target), () => few(limit, call))
    return Promise.race([result, waiting.over])
  }
}

interface Waiting {
  /** Fails when the signal fires while it is still waited. */
  readonly over: Promise<never>
  /** Ends the waiting; throws where the signal has fired already. */
  readonly end: () => void
}

function waitingUntil(signal: AbortSignal, target: ApiTarget): Waiting {
  const { promise: over, reject } = Promise.withResolvers<never>()
  const stop = (): void => reject(outOfTime(target, signal.reason))
  signal.addEventListener('abort', stop, { once: true })
  over.catch(() => undefined)
  if (signal.aborted) stop()
  return {
    over,
    end() {
      signal.removeEventListener('abort', stop)
      if (signal.aborted) throw outOfTime(target, signal.reason)
    },
  }
}

// Hosts count by whose token it is, whichever Secret holds it.
function limitOf(baseURL: string, { username, secret }: ApiLogin): string {
  return createHash('sha256')
    .update(JSON.stringify([baseURL, username ?? null, secret]))
    .digest('hex')
}

// Hosts ignore the case of a repository's path: at worst two wait for each other in vain.
function keyOf({ baseURL, repository, branches }: ApiTarget): string {
  return JSON.stringify([baseURL, repository.map((segment) => segment.toLowerCase()), branches])
}

function outOfTime({ shown }: ApiTarget, cause: unknown): Failure {
  if (cause instanceof Failure) return cause
  const message = `The time of the attempt was over before the API of ${shown} could be called; it is tried again.`
  return new Failure('Timeout', message, { cause })
}
