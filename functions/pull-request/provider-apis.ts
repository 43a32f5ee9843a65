import { createHash } from 'node:crypto'
import { makeRateLimits } from './rate-limits.ts'
import type { ApiLogin } from '../domain/credentials/login.ts'
import { unlessAborted } from '../domain/deadline.ts'
import { Failure } from '../domain/failure.ts'
import { guardedPullRequests } from '../domain/pull-request/guarded-pull-requests.ts'
import type { ApiTarget, Connect, WithPullRequests } from '../domain/pull-request/pull-requests.ts'
import { openHTTP } from '../http/http.ts'
import type { HTTPSettings } from '../http/http.ts'
import { makeKeyedSemaphore } from './keyed-semaphore.ts'

/** One folder per row of the table of hosts, each loaded when it is first needed. The addresses are for the bundler to see. */
export const PROVIDERS: Readonly<Record<string, () => Promise<{ readonly default: Connect }>>> = {
  github: () => import('../providers/github/index.ts'),
  gitlab: () => import('../providers/gitlab/index.ts'),
  bitbucket: () => import('../providers/bitbucket/index.ts'),
  gitea: () => import('../providers/gitea/index.ts'),
}

/**
 * How many attempts call at once with the same token: GitHub asks for one request after the other ("Best practices
 * for using the REST API"), and what all have asked before the first has heard of a limit is refused to all. With one
 * alone, a call that hangs would hold all others up.
 */
const CALLERS = 2

/** Opens sessions with all APIs. `now` in milliseconds. */
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
    const called = Promise.withResolvers<undefined>()
    const call = async (): ReturnType<typeof work> => {
      if (signal.aborted) throw outOfTime(target, signal.reason)
      called.resolve(undefined)
      limits.check(limit)
      return withAPI(baseURL, signal, (fetch) =>
        work(guardedPullRequests(connect({ ...target, fetch }, login), { login, shown: target.shown })),
      ).catch((error: unknown) => {
        throw limits.record(limit, error)
      })
    }
    const result = alone(keyOf(target), () => few(limit, call))
    await unlessAborted(Promise.race([called.promise, result]), signal, (cause) => outOfTime(target, cause))
    return result
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
