import type { Test } from 'tap'
import type { ApiLogin } from '../../functions/domain/api-login.ts'
import { Failure } from '../../functions/domain/failure.ts'
import type { Branches, Endpoint, Fetch, PullRequests } from '../../functions/domain/pull-requests.ts'
import { hostNamed } from '../../functions/domain/hosts.ts'
import { openProviders } from '../../functions/provider-apis.ts'
import type { HostAnswer } from '../harness/hosts/dialect.ts'
import { github } from '../harness/hosts/github.ts'
import { startHost } from '../harness/hosts/host-server.ts'
import type { HostServer } from '../harness/hosts/host-server.ts'
import { memoryModel } from '../harness/hosts/model.ts'
import type { HostModel, MemoryBranches } from '../harness/hosts/model.ts'

export const TOKEN = 'good-token'

export const LOGIN: ApiLogin = {
  username: undefined,
  secret: TOKEN,
  method: 'token',
  identity: 'a',
  secrets: [TOKEN],
}

const SHOP = { repository: ['acme', 'shop'], shown: 'https://localhost/acme/shop.git' }

/** settings → main, both in the repository itself. */
export const BRANCHES: Branches = { base: 'main', head: 'settings', headOwner: undefined }

/** What is opened with it. */
export const DRAFT = { branches: BRANCHES, title: 'Settings of the shop', body: 'Opened.', draft: false }

export interface GitHubStage {
  readonly host: HostServer
  readonly model: HostModel & { readonly branches: MemoryBranches }
  /** A connection of its own for each piece of work, as an attempt has. */
  readonly work: <T>(work: (pullRequests: PullRequests) => Promise<T>) => Promise<T>
  /** The Failure that the work ends with; none is an error of the test. */
  readonly failure: (work: (pullRequests: PullRequests) => Promise<unknown>) => Promise<Failure>
  /** Methods and paths of the requests so far, without queries. */
  readonly lines: () => readonly string[]
}

/** GitHub with acme/shop, whose branch settings holds two commits more than main; no request may break its description. */
export async function startGitHub(t: Test): Promise<GitHubStage> {
  const model = memoryModel()
  model.branches.set('settings', 3)
  const host = await startHost(t, github, model)
  t.teardown(() => {
    if (host.violations.length > 0) throw new Error(host.violations.join(' '))
  })
  const settings = {
    resolve: () => Promise.resolve(['127.0.0.1']),
    proxies: { proxy: undefined, exceptions: [] },
    insecureHosts: [],
    caFile: host.caFile,
  }
  const row = hostNamed('github')
  if (row === undefined) throw new Error('The table of hosts has no row for GitHub.')
  const target = { ...SHOP, host: row, baseURL: host.baseURL, branches: BRANCHES }
  const { signal } = new AbortController()
  // Another process each time: no limit that an answer has set holds for the next one.
  const work: GitHubStage['work'] = (work) =>
    openProviders(settings, () => Date.now())(target, { login: LOGIN, signal }, work)
  return {
    host,
    model,
    work,
    async failure(doomed) {
      const ended = await work(doomed).catch((error: unknown) => error)
      if (ended instanceof Failure) return ended
      throw new Error('It does not end with a Failure.', { cause: ended })
    },
    lines: () => host.seen.map(({ method, path }) => `${method} ${path.split('?')[0] ?? ''}`),
  }
}

/** acme/shop at this address. */
export function endpointAt(baseURL: string, fetch: Fetch): Endpoint {
  return { ...SHOP, baseURL, fetch }
}

/** Makes a changed answer out of a true one whose body is an object. */
export function withBody(change: Readonly<Record<string, unknown>>): (answer: HostAnswer) => HostAnswer {
  return (answer) => ({ ...answer, body: { ...(answer.body as object), ...change } })
}
