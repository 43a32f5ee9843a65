import type { Login, PasswordLogin } from '../domain/credentials/login.ts'
import { Failure } from '../domain/failure.ts'
import { requireAPI, type Target } from '../domain/repository/target.ts'
import { NO_METER, type Meter } from '../domain/telemetry/meter.ts'
import { openHTTP, type HTTPSettings } from '../http/http.ts'
import { measureCalls } from '../http/measured-calls.ts'
import { callInShare, inShareOf, shareOfCalls } from '../http/share.ts'
import type { MakeCommit } from '../providers/make-commit.ts'
import type { World } from '../world.ts'
import type { ApiLimits } from './limits/api-limits.ts'

/** What makes the commits of each host that signs them, by its row in the table of hosts. The bundler needs the literal paths. */
export const COMMITTERS: Readonly<Record<string, () => Promise<{ readonly makeCommit: MakeCommit }>>> = {
  github: () => import('../providers/github/commit.ts'),
}

/** Lets the APIs of hosts make commits, and measures the calls. Loads what is needed with the first one. */
export function openHostCommits(
  settings: HTTPSettings,
  limits: ApiLimits,
  meter: Meter = NO_METER,
): World['commitsByAPI'] {
  return function commitsByAPI(target, namespace) {
    const { host, baseURL, repository } = requireAPI(target)
    const shown = target.address.text
    return async function commitByAPI(commit, { login, signal, span, remaining = () => Infinity }) {
      const called = measureCalls(host.name, meter, span)
      const { makeCommit } = await loadFor(target)
      const { password: token, secrets, issued } = requireToken(login, shown)
      const counted = {
        baseURL,
        requestsPerHour: host.requestsPerHour,
        username: undefined,
        secret: token,
        ...(issued === undefined ? {} : { issued }),
        ...(login.ofOperator === undefined ? {} : { ofOperator: login.ofOperator }),
      }
      const late = (cause: unknown): Failure => outOfTime(shown, cause)
      // Once the call has begun, its end says whether the commit may have been made.
      return limits.run(counted, { owner: namespace, signal, late }, async (turn, shareRequests) => {
        const begun = { late: false }
        const mayBegin = (): boolean => {
          begun.late = remaining() <= 0
          return !begun.late
        }
        const { ofOperator } = login
        const terms = { namespace, signal, ofOperator, turn }
        const counted = inShareOf(settings, terms)
        const withAPI = openHTTP({ ...counted, called })
        const made = await withAPI(baseURL, signal, (fetch) => {
          const share = shareOfCalls(settings, terms)
          const shared = callInShare(shareRequests(fetch, 'GraphQL'), share, counted)
          const begin: typeof fetch = (url, init) => shared(url, { ...init, mayBegin })
          return makeCommit({ baseURL, repository, shown, fetch: begin, share, token, secrets }, commit)
        })
        // Nothing was sent.
        return begun.late ? { kind: 'race' } : made
      })
    }
  }
}

async function loadFor({ host }: Target): Promise<{ readonly makeCommit: MakeCommit }> {
  const load = COMMITTERS[host?.name ?? '']
  if (load !== undefined) return load()
  const message = `Hosts of the provider ${host?.name ?? 'that is not known'} make no commits by their API; leave out spec.commitVia.`
  throw new Failure('NotSupported', message)
}

function requireToken(login: Login, shown: string): PasswordLogin {
  if (login.method === 'password') return login
  throw new Failure('InvalidSpec', `The API of ${shown} takes a token; name it in spec.credentials.`)
}

function outOfTime(shown: string, cause: unknown): Failure {
  const message = `The attempt ran out of time before the API of ${shown} could be called; Commitlet retries automatically.`
  return new Failure('Timeout', message, { cause })
}
