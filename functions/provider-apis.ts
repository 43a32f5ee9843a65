import { makeBrake } from './brake.ts'
import type { ApiLogin } from './domain/api-login.ts'
import type { ApiPlace } from './domain/api-place.ts'
import { Failure } from './domain/failure.ts'
import type { Branches, Connect, PullRequests } from './domain/pull-requests.ts'
import { withAPI } from './http/http.ts'
import type { HTTPSettings } from './http/http.ts'
import { oneAtATime } from './one-at-a-time.ts'

/** One file per row of domain/hosts.ts, each loaded when it is first needed. The addresses are for the bundler to see. */
export const PROVIDERS: Readonly<Record<string, () => Promise<{ readonly default: Connect }>>> = {
  github: () => import('./providers/github.ts'),
  gitlab: () => import('./providers/gitlab.ts'),
  bitbucket: () => import('./providers/bitbucket.ts'),
  gitea: () => import('./providers/gitea.ts'),
}

/** Which pull request, and where. */
export interface ApiTarget extends ApiPlace {
  /** `spec.repository`, for sentences. */
  readonly shown: string
  readonly branches: Branches
}

/**
 * Hands `work` the pull requests of a repository. One at a time for the same branches of the same repository, so that
 * two resources never open two; and none while the limit of the same credential holds.
 * @throws Failure what `work` and the way to the API throw
 */
export type WithPullRequests = <T>(
  target: ApiTarget,
  by: { readonly login: ApiLogin; readonly signal: AbortSignal },
  work: (pullRequests: PullRequests) => Promise<T>,
) => Promise<T>

/** Makes the way to all APIs. `now` in milliseconds. */
export function openProviders(settings: HTTPSettings, now: () => number): WithPullRequests {
  const brake = makeBrake(now)
  const inTurn = oneAtATime()
  return async function withPullRequests(target, { login, signal }, work) {
    const { host, baseURL } = target
    const load = PROVIDERS[host.name]
    if (load === undefined)
      throw new Failure('NotSupported', `Pull requests on ${host.name} are not supported yet.`)
    const { default: connect } = await load()
    const limit = JSON.stringify([baseURL, login.identity])
    return inTurn(keyOf(target), async () => {
      if (signal.aborted) throw outOfTime(target)
      brake.check(limit)
      return withAPI(baseURL, { settings, signal }, (fetch) => work(connect({ ...target, fetch }, login)))
    }).catch((error: unknown) => {
      throw brake.heed(limit, error)
    })
  }
}

// Hosts ignore the case of a repository's path: at worst two wait for each other in vain.
function keyOf({ baseURL, repository, branches }: ApiTarget): string {
  return JSON.stringify([baseURL, repository.map((segment) => segment.toLowerCase()), branches])
}

function outOfTime({ shown }: ApiTarget): Failure {
  const message = `The time of the attempt was over before the API of ${shown} could be called; it is tried again.`
  return new Failure('Timeout', message)
}
