import t from 'tap'
import type { Test } from 'tap'
import type { ApiLogin } from '../../functions/domain/api-login.ts'
import { Failure } from '../../functions/domain/failure.ts'
import { hostNamed } from '../../functions/domain/hosts.ts'
import type { PullRequests } from '../../functions/domain/pull-requests.ts'
import { openProviders } from '../../functions/provider-apis.ts'
import { BITBUCKET } from '../harness/hosts/bitbucket.ts'
import { startHost } from '../harness/hosts/host-server.ts'
import type { HostServer } from '../harness/hosts/host-server.ts'
import { memoryModel } from '../harness/hosts/model.ts'
import type { HostModel, MemoryBranches } from '../harness/hosts/model.ts'

/** Two whom the stand-in knows: by UUID, and by account ID. */
export const [DEV, OPS] = [
  '{11111111-2222-3333-4444-555555555555}',
  '712020:66666666-7777-8888-9999-000000000000',
]
/** Three whom it does not know. */
export const STRANGERS = ['a', 'b', 'c'].map((sign) => `{99999999-9999-9999-9999-99999999999${sign}}`)
/** settings → main, both in the repository itself. */
export const BRANCHES = { base: 'main', head: 'settings', headOwner: undefined }
/** What is opened with it. */
export const DRAFT = { branches: BRANCHES, title: 'Settings', body: 'text', draft: false }
/** An access token, which needs no user name. */
export const TOKEN: ApiLogin = {
  username: undefined,
  secret: 'good-token',
  method: 'token',
  identity: 'token',
  secrets: ['good-token'],
}

/** Bitbucket with one repository, whose branch settings holds two commits more than main. */
export interface Stage {
  readonly host: HostServer
  readonly model: HostModel & { readonly branches: MemoryBranches }
  work<T>(
    work: (pullRequests: PullRequests) => Promise<T>,
    as?: { readonly login?: ApiLogin; readonly repository?: readonly string[] },
  ): Promise<T>
  /** How many requests so far would change something. */
  writes(): number
}

async function start(t: Test, repository: readonly string[] = ['acme', 'shop']): Promise<Stage> {
  const model = memoryModel({ repository, people: [DEV, OPS] })
  model.branches.set('settings', 3)
  const host = await startHost(t, BITBUCKET, model)
  const settings = {
    resolve: () => Promise.resolve(['127.0.0.1']),
    proxies: { proxy: undefined, exceptions: [] },
    insecureHosts: [],
    caFile: host.caFile,
  }
  const row = hostNamed('bitbucket')
  if (row === undefined) throw new Error('The table of hosts has no row for Bitbucket.')
  return {
    host,
    model,
    // Another process each time: no limit that an answer has set holds for the next one.
    work: (work, { login = TOKEN, repository: called = repository } = {}) =>
      openProviders(settings, () => Date.now())(
        { host: row, baseURL: host.baseURL, repository: called, shown: 'the shop', branches: BRANCHES },
        { login, signal: new AbortController().signal },
        work,
      ),
    writes: () => host.seen.filter(({ method }) => method !== 'GET').length,
  }
}

/** A test over a stand-in of its own, whose description has to allow every request. */
export function test(
  title: string,
  run: (t: Test, stage: Stage) => Promise<void>,
  repository?: readonly string[],
): void {
  t.test(title, async (t) => {
    const stage = await start(t, repository)
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
