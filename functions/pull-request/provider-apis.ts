import { countedKey, type ApiLimits } from '../login/api-limits.ts'
import { unlessAborted } from '../domain/deadline.ts'
import { Failure } from '../domain/failure.ts'
import { guardedPullRequests } from '../domain/pull-request/guarded-pull-requests.ts'
import type { ApiTarget, Connect, WithPullRequests } from '../domain/pull-request/pull-requests.ts'
import { NO_METER, type Meter } from '../domain/telemetry/meter.ts'
import { NO_SPAN } from '../domain/telemetry/tracer.ts'
import { openHTTP } from '../http/http.ts'
import type { HTTPSettings } from '../http/http.ts'
import { measureCalls } from '../http/measured-calls.ts'
import { makeKeyedSemaphore } from '../domain/keyed-semaphore.ts'

/** One folder per row of the table of hosts, loaded on first use. The bundler needs the literal paths. */
export const PROVIDERS: Readonly<Record<string, () => Promise<{ readonly default: Connect }>>> = {
  github: () => import('../providers/github/index.ts'),
  gitlab: () => import('../providers/gitlab/index.ts'),
  bitbucket: () => import('../providers/bitbucket/index.ts'),
  gitea: () => import('../providers/gitea/index.ts'),
}

/** Opens sessions with all APIs, and measures their calls. */
export function openProviders(
  settings: HTTPSettings,
  limits: ApiLimits,
  meter: Meter = NO_METER,
): WithPullRequests {
  const [oneOfLogin, onePerTarget] = [makeKeyedSemaphore(1), makeKeyedSemaphore(1)]
  return async function withPullRequests(target, { login, signal, span = NO_SPAN }, work) {
    const { host, baseURL } = target
    const load = PROVIDERS[host.name]
    if (load === undefined)
      throw new Failure('NotSupported', `Pull requests on ${host.name} are not supported yet.`)
    const { default: connect } = await load()
    const withAPI = openHTTP({ ...settings, called: measureCalls(host.name, meter, span) })
    const started = Promise.withResolvers<undefined>()
    const call = async (): ReturnType<typeof work> => {
      if (signal.aborted) throw outOfTime(target, signal.reason)
      started.resolve(undefined)
      return withAPI(baseURL, signal, (fetch) =>
        work(guardedPullRequests(connect({ ...target, fetch }, login), { login, shown: target.shown })),
      )
    }
    // A target is held for calls alone, so that nobody keeps it from others while they wait for their own token. One of each
    // login is next, so that the others of it wait for the target without a place of the token.
    const [key, counted] = [targetKey(target), { ...login, baseURL }]
    const next = (): ReturnType<typeof work> => limits.run(counted, () => onePerTarget(key, call))
    const result = oneOfLogin(`${countedKey(counted)} ${key}`, next)
    await unlessAborted(Promise.race([started.promise, result]), signal, (cause) => outOfTime(target, cause))
    return result
  }
}

// Hosts ignore the case of a repository's path; on a host that does not, two attempts only wait needlessly.
function targetKey({ baseURL, repository, branches }: ApiTarget): string {
  return JSON.stringify([baseURL, repository.map((segment) => segment.toLowerCase()), branches])
}

function outOfTime({ shown }: ApiTarget, cause: unknown): Failure {
  if (cause instanceof Failure) return cause
  const message = `The attempt ran out of time before the API of ${shown} could be called; Commitlet retries automatically.`
  return new Failure('Timeout', message, { cause })
}
