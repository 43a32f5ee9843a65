import type { ApiLimits } from '../login/limits/api-limits.ts'
import { Failure } from '../domain/failure.ts'
import { guardedPullRequests } from '../domain/pull-request/guarded-pull-requests.ts'
import type { ApiTarget, Connect, WithPullRequests } from '../domain/pull-request/pull-requests.ts'
import { confirmedInTime, type ClaimCheck } from '../domain/resource/claims.ts'
import { NO_METER, type Meter } from '../domain/telemetry/meter.ts'
import { NO_SPAN } from '../domain/telemetry/tracer.ts'
import { openHTTP } from '../http/http.ts'
import type { HTTPSettings } from '../http/http.ts'
import { measureCalls } from '../http/measured-calls.ts'
import { callInShare, inShareOf, reservationOf, shareOfCalls } from '../http/share.ts'
import { boundKeptValues, inTurns, reserveWithoutTurn } from './calls-in-turns.ts'
import { openOneCreation } from './one-creation.ts'

/** One folder per row of the table of hosts, loaded on first use. The bundler needs the literal paths. */
export const PROVIDERS: Readonly<Record<string, () => Promise<{ readonly default: Connect }>>> = {
  github: () => import('../providers/github/index.ts'),
  gitlab: () => import('../providers/gitlab/index.ts'),
  bitbucket: () => import('../providers/bitbucket/index.ts'),
  gitea: () => import('../providers/gitea/index.ts'),
}

/** Nobody else writes. */
const UNCLAIMED: ClaimCheck = { confirm: () => Promise.resolve(), remaining: () => Infinity }

/** Opens sessions with all APIs, and measures their calls. */
export function openProviders(
  settings: HTTPSettings,
  limits: ApiLimits,
  meter: Meter = NO_METER,
): WithPullRequests {
  const withOneCreation = openOneCreation()
  return async function withPullRequests(target, caller, work) {
    const { login, sent, namespace: owner = '', signal, claim = UNCLAIMED, span = NO_SPAN } = caller
    const { host, baseURL } = target
    const load = PROVIDERS[host.name]
    if (load === undefined)
      throw new Failure('NotSupported', `Pull requests on ${host.name} are not supported yet.`)
    const { default: connect } = await load()
    const called = measureCalls(host.name, meter, span)
    const late = (cause: unknown): Failure => outOfTime(target, cause)
    const claimed = confirmedInTime(claim)
    const { requestsPerHour } = host
    const counted = { ...login, baseURL, requestsPerHour }
    return limits.run(counted, { owner, signal, late }, (turn, shareRequests) => {
      const terms = { namespace: owner, signal, ofOperator: login.ofOperator, turn }
      const shared = inShareOf(settings, terms)
      return openHTTP({ ...shared, called })(baseURL, signal, (fetch) => {
        const share = shareOfCalls(settings, terms)
        const calls = callInShare(inTurns(shareRequests(fetch, 'REST'), turn, claimed), share, shared)
        const pullRequests = connect(
          { ...target, fetch: calls, share, mayHave: boundKeptValues(turn), pass: () => turn.pass() },
          login,
        )
        const reserve = reserveWithoutTurn(reservationOf(settings, owner, signal), turn)
        const { creationReplaces = false, ownPath } = pullRequests
        const keys = {
          key: targetKey(target),
          ownKey: ownPath && (async () => targetKey({ ...target, repository: await ownPath() })),
        }
        return withOneCreation(
          { ...keys, creationReplaces, owner, signal, late, turn, reserve, confirm: claimed.confirm },
          guardedPullRequests(pullRequests, { login, sent, shown: target.shown }),
          work,
        )
      })
    })
  }
}

// Hosts ignore the case of a repository's path; on a host that does not, two attempts only wait needlessly.
function targetKey({ baseURL, repository, branches }: ApiTarget): string {
  return JSON.stringify([baseURL, repository.map((segment) => segment.toLowerCase()), branches])
}

function outOfTime({ shown }: ApiTarget, cause: unknown): Failure {
  const message = `The attempt ran out of time before the API of ${shown} could be called; Commitlet retries automatically.`
  return new Failure('Timeout', message, { cause })
}
