import t from 'tap'
import type { Test } from 'tap'
import type { ApiLogin } from '../../functions/domain/api-login.ts'
import { Failure } from '../../functions/domain/failure.ts'
import { hostNamed } from '../../functions/domain/hosts.ts'
import type { PullRequests } from '../../functions/domain/pull-requests.ts'
import { openProviders } from '../../functions/provider-apis.ts'
import { GITEA } from '../harness/hosts/gitea.ts'
import { startHost } from '../harness/hosts/host-server.ts'
import type { HostServer } from '../harness/hosts/host-server.ts'
import { memoryModel } from '../harness/hosts/model.ts'
import type { HostModel, MemoryBranches } from '../harness/hosts/model.ts'

/** settings → main, both in the repository itself. */
export const BRANCHES = { base: 'main', head: 'settings', headOwner: undefined }
/** What is opened with it. */
export const DRAFT = { branches: BRANCHES, title: 'Settings', body: 'text', draft: false }
export const TOKEN: ApiLogin = {
  username: undefined,
  secret: 'good-token',
  method: 'token',
  identity: 'token',
  secrets: ['good-token'],
}

/** Gitea with one repository, whose branch settings holds two commits more than main. */
export interface Stage {
  readonly host: HostServer
  readonly model: HostModel & { readonly branches: MemoryBranches }
  work<T>(work: (pullRequests: PullRequests) => Promise<T>, login?: ApiLogin): Promise<T>
  /** `METHOD path` of each request so far, below the repository and without the query. */
  lines(): readonly string[]
}

async function start(t: Test): Promise<Stage> {
  const repository = ['acme', 'shop']
  const model = memoryModel({ repository })
  model.branches.set('settings', 3)
  const host = await startHost(t, GITEA, model)
  const settings = {
    resolve: () => Promise.resolve(['127.0.0.1']),
    proxies: { proxy: undefined, exceptions: [] },
    insecureHosts: [],
    caFile: host.caFile,
  }
  const row = hostNamed('gitea')
  if (row === undefined) throw new Error('The table of hosts has no row for Gitea.')
  const place = { host: row, baseURL: host.baseURL, repository }
  const target = { ...place, shown: 'the shop', branches: BRANCHES, permit: () => undefined }
  return {
    host,
    model,
    // Another process each time: no limit that an answer has set holds for the next one.
    work: (work, login = TOKEN) =>
      openProviders(settings, () => Date.now())(
        target,
        { login, signal: new AbortController().signal },
        work,
      ),
    lines: () =>
      host.seen.map(({ method, path }) => `${method} ${path.replace('/repos/acme/shop', '').split('?')[0]}`),
  }
}

/** A test over a stand-in of its own, whose description has to allow every request. */
export function test(title: string, run: (t: Test, stage: Stage) => Promise<void>): void {
  t.test(title, async (t) => {
    const stage = await start(t)
    await run(t, stage)
    t.strictSame(stage.host.violations, [])
  })
}

/** The Failure that the work ends with; anything else tells by itself that it is none. */
export function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => 'nothing was thrown',
    (error: unknown) => (error instanceof Failure ? error : { strange: error }),
  )
}
