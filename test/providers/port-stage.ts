import type { Test } from 'tap'
import type { ApiLogin } from '../../functions/domain/credentials/login.ts'
import { Failure } from '../../functions/domain/failure.ts'
import { hostNamed } from '../../functions/domain/repository/hosts.ts'
import type { PullRequests } from '../../functions/domain/pull-request/pull-requests.ts'
import type { HTTPSettings } from '../../functions/http/http.ts'
import { makeApiLimits } from '../../functions/login/limits/api-limits.ts'
import { openProviders } from '../../functions/pull-request/provider-apis.ts'
import { followTrust } from '../../functions/net/trust.ts'
import type { Dialect, HostAnswer } from '../harness/hosts/dialect.ts'
import { startHost } from '../harness/hosts/host-server.ts'
import type { HostServer } from '../harness/hosts/host-server.ts'
import { memoryModel } from '../harness/hosts/model.ts'
import type { HostModel, MemoryBranches } from '../harness/hosts/model.ts'

export const TOKEN = 'good-token'
/** Only the token, which may do everything. */
export const LOGIN: ApiLogin = {
  username: undefined,
  secret: TOKEN,
  identity: 'token',
  secrets: [TOKEN],
}
/** settings → main, both in the repository itself. */
export const BRANCHES = { base: 'main', head: 'settings', headOwner: undefined }
/** The pull request that is opened with it. */
export const DRAFT = { branches: BRANCHES, title: 'Settings', body: 'Text.', draft: false }

/** The host of the stand-in, and its options. */
export interface Standing {
  readonly dialect: Dialect
  /** The row of the table of hosts. */
  readonly name: string
  /** acme/shop where it is not given. */
  readonly repository?: readonly string[] | undefined
  readonly people?: readonly string[]
  /** As in the model. */
  readonly uuids?: readonly string[]
}

/** The login and the repository; default: LOGIN and the host's own repository. */
export interface Called {
  readonly login?: ApiLogin
  readonly repository?: readonly string[]
}

type Work<T> = (pullRequests: PullRequests) => Promise<T>

/** A stand-in for a host with one repository, whose branch settings holds two commits more than main. */
export interface PortStage {
  readonly host: HostServer
  readonly model: HostModel & { readonly branches: MemoryBranches }
  /** Runs work over the real network code, without limits of earlier work. Then asserts that no request was refused. */
  readonly work: <T>(work: Work<T>, as?: Called) => Promise<T>
  /** The Failure that the work ends with; none is an error of the test. */
  readonly failure: (work: Work<unknown>, as?: Called) => Promise<Failure>
  /** Methods and paths of the requests so far, below the path of the API and without queries. */
  readonly lines: () => readonly string[]
}

/** Starts the stand-in, which ends with the test; a request that the host's operations do not allow fails it. */
export async function startPort(t: Test, { dialect, name, ...held }: Standing): Promise<PortStage> {
  const { repository = ['acme', 'shop'] } = held
  const model = memoryModel({ ...held, repository })
  model.branches.set('settings', 3)
  const host = await startHost(t, dialect, model)
  const row = hostNamed(name)
  if (row === undefined) throw new Error(`The table of hosts has no row for ${name}.`)
  const permit = (): void => undefined
  const shown = `${host.origin}/${repository.join('/')}.git`
  const target = { host: row, baseURL: host.baseURL, repository, shown, branches: BRANCHES, permit }
  const { signal } = new AbortController()

  const work: PortStage['work'] = (work, { login = LOGIN, repository: called = repository } = {}) => {
    // Another process each time, without remembered state.
    const withPullRequests = openProviders(
      settingsWith(host.caFile),
      makeApiLimits(() => Date.now()),
    )
    return withPullRequests({ ...target, repository: called }, { login, signal }, work).finally(() =>
      t.strictSame(host.violations, [], "the host's operations allow every request"),
    )
  }
  return {
    host,
    model,
    work,
    async failure(doomed, as) {
      const ended = await work(doomed, as).catch((error: unknown) => error)
      if (ended instanceof Failure) return ended
      throw new Error('It does not end with a Failure.', { cause: ended })
    },
    lines: () => host.seen.map(({ method, path }) => `${method} ${path.replace(/\?.*$/, '')}`),
  }
}

/** The page of a list that a request asks for, as GitHub and Gitea answer it. */
export function pageOf(url: string, values: readonly unknown[]): HostAnswer {
  const query = new URLSearchParams(url.split('?')[1])
  const size = Number(query.get('per_page') ?? query.get('limit'))
  const end = Number(query.get('page') ?? 1) * size
  const link: Record<string, string> = end < values.length ? { link: '<https://x/>; rel="next"' } : {}
  const headers = { 'x-total-count': String(values.length), ...link }
  return { status: 200, headers, body: values.slice(end - size, end) }
}

/** Every name is at 127.0.0.1, and the authority of this file is trusted. */
export function settingsWith(caFile: string): HTTPSettings {
  const proxies = { proxy: undefined, exceptions: [] }
  return {
    resolve: () => Promise.resolve(['127.0.0.1']),
    proxies,
    insecureHosts: [],
    trust: followTrust(caFile),
  }
}
