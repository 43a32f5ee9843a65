import type { Test } from 'tap'
import type { ApiLogin } from '../../functions/domain/api-login.ts'
import { Failure } from '../../functions/domain/failure.ts'
import { hostNamed } from '../../functions/domain/hosts.ts'
import type { PullRequests } from '../../functions/domain/pull-requests.ts'
import { openProviders } from '../../functions/provider-apis.ts'
import type { Dialect } from '../harness/hosts/dialect.ts'
import { GITLAB } from '../harness/hosts/gitlab.ts'
import { startHost } from '../harness/hosts/host-server.ts'
import type { HostServer } from '../harness/hosts/host-server.ts'
import { memoryModel } from '../harness/hosts/model.ts'
import type { HostModel, MemoryBranches } from '../harness/hosts/model.ts'

export const LOGIN: ApiLogin = {
  username: undefined,
  secret: 'good-token',
  method: 'token',
  identity: 'one',
  secrets: ['good-token'],
}
export const BRANCHES = { base: 'main', head: 'settings', headOwner: undefined }
export const DRAFT = { branches: BRANCHES, title: 'Settings', body: 'Text.', draft: false }

/** A stand-in for GitLab with one project, in which `settings` holds two commits more than `main`. */
export interface GitLabStage {
  readonly host: HostServer
  readonly model: HostModel & { readonly branches: MemoryBranches }
  /**
   * Over the real way to the network; no limit of an earlier work holds. Afterwards every request has kept to GitLab's
   * own description.
   */
  readonly work: <T>(work: (pullRequests: PullRequests) => Promise<T>) => Promise<T>
  /** The Failure that the work ends with; none is an error of the test. */
  readonly failure: (work: (pullRequests: PullRequests) => Promise<unknown>) => Promise<Failure>
  /** `METHOD path` of each request so far, below the path of the API and without the query. */
  readonly lines: () => readonly string[]
}

/** Starts the stand-in, which ends with the test. */
export async function startGitLab(
  t: Test,
  options: { readonly dialect?: Dialect; readonly repository?: readonly string[] } = {},
): Promise<GitLabStage> {
  const { dialect = GITLAB, repository = ['acme', 'shop'] } = options
  const model = memoryModel({ repository })
  model.branches.set('settings', 3)
  const server = await startHost(t, dialect, model)
  const settings = {
    resolve: () => Promise.resolve(['127.0.0.1']),
    proxies: { proxy: undefined, exceptions: [] },
    insecureHosts: [],
    caFile: server.caFile,
  }
  const host = hostNamed('gitlab')
  if (host === undefined) throw new Error('The table of hosts has no row for GitLab.')
  const shown = `${server.origin}/${repository.join('/')}.git`
  const target = { host, baseURL: server.baseURL, repository, shown, branches: BRANCHES }
  const { signal } = new AbortController()
  const work: GitLabStage['work'] = (work) =>
    openProviders(settings, () => Date.now())(target, { login: LOGIN, signal }, work).finally(() =>
      t.strictSame(server.violations, [], "GitLab's own description allows every request"),
    )
  return {
    host: server,
    model,
    work,
    async failure(doing) {
      const ended = await work(doing).catch((error: unknown) => error)
      if (ended instanceof Failure) return ended
      throw new Error('It does not end with a Failure.', { cause: ended })
    },
    lines: () => server.seen.map(({ method, path }) => `${method} ${path.replace(/\?.*$/, '')}`),
  }
}
