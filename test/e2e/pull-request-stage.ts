import type { GitRepository, RepositoryOptions } from '../harness/git-repository.ts'
import type { GitServer } from '../harness/git-server.ts'
import type { Dialect } from '../harness/hosts/dialect.ts'
import { gitBranches } from '../harness/hosts/git-branches.ts'
import { gitCommits } from '../harness/hosts/git-commits.ts'
import type { ModelApps } from '../harness/hosts/github-app.ts'
import type { HostHandler, SeenRequest } from '../harness/hosts/host-handler.ts'
import { memoryModel } from '../harness/hosts/model.ts'
import type { HostModel } from '../harness/hosts/model.ts'
import { TOKEN } from '../harness/installation.ts'
import type { Stored, Team } from '../harness/installation.ts'

export const BASE = 'main'
export const HEAD = 'settings'
export const REQUESTED_AT = 'commitlet.dev/requested-at'

/** A real repository, and the API of a host over it. */
export interface HostedRepository {
  readonly repository: GitRepository
  readonly model: HostModel
  readonly api: HostHandler
  /** `spec.repository`. */
  readonly address: string
  /** A PullRequest from settings to main; `spec` overrides its members. */
  pullRequest(name: string, spec?: Readonly<Record<string, unknown>>): object
  /** Requests that would change something. */
  writes(): readonly SeenRequest[]
}

export interface HostingOptions extends RepositoryOptions {
  /** Who may write by the API; default: TOKEN. */
  readonly tokens?: readonly string[]
  readonly people?: readonly string[]
  /** The Apps of the host; their tokens log in to Git, too. */
  readonly apps?: ModelApps
}

/** Where a repository is. */
export interface Site {
  readonly dialect: Dialect
  /** Of the repository at its host. */
  readonly path: string
  /** Path of the installation, such as /gitlab; default: at the top of its host. */
  readonly prefix?: string
  /** A public host whose name leads to the server, and the path of its API. */
  readonly publicly?: { readonly origin: string; readonly apiPath: string }
}

/** Makes the repository on the server, and returns the API of this host for it. */
export async function hostRepository(
  git: GitServer,
  { dialect, path, prefix = '', publicly }: Site,
  options: HostingOptions = {},
): Promise<HostedRepository> {
  const { tokens = [TOKEN], people, apps } = options
  const name = `${prefix}/${path}`.slice(1)
  const repository = await git.createRepository(name, options)
  const model: HostModel = {
    ...memoryModel({ repository: path.split('/'), ...(people === undefined ? {} : { people }) }),
    branches: gitBranches(repository),
    commits: gitCommits(repository),
    tokens: new Map(tokens.map((token) => [token, 'write'])),
    ...(apps === undefined ? {} : { apps }),
  }
  if (apps !== undefined) admitApps(git, name, apps)
  const apiPath = publicly?.apiPath ?? prefix + dialect.apiPath
  const api = git.serveAPI({ ...dialect, apiPath }, model, publicly?.origin)
  const remote =
    publicly === undefined
      ? {
          repository: repository.url,
          provider: dialect.name,
          providerConfig: { baseURL: git.url + apiPath },
        }
      : { repository: `${publicly.origin}/${path}.git` }
  return {
    repository,
    model,
    api,
    address: remote.repository,
    pullRequest: (name, spec = {}) => pullRequest(name, { ...remote, ...spec }),
    writes: () => api.seen.filter(({ method }) => method !== 'GET'),
  }
}

/** Lets the tokens of these Apps log in to Git, for the repository of each alone, until they end. */
function admitApps(git: GitServer, name: string, apps: ModelApps): void {
  const ends = new Map<string, () => void>()
  apps.onIssue = ({ token, repository, permissions }) => {
    const user = { username: 'x-access-token', password: token, right: 'none' } as const
    ends.set(token, git.admit(user))
    if (name.endsWith(repository))
      git.setRight(user, name, permissions['contents'] === 'write' ? 'write' : 'read')
  }
  apps.onEnd = ({ token }) => ends.get(token)?.()
}

/** A PullRequest from settings to main by the token of the Secret `git`; `spec` adds the repository. */
export function pullRequest(name: string, spec: Readonly<Record<string, unknown>>): object {
  return {
    apiVersion: 'commitlet.dev/v1',
    kind: 'PullRequest',
    metadata: { name },
    spec: {
      baseBranch: BASE,
      headBranch: HEAD,
      title: 'Settings of the shop',
      body: 'Opened from the cluster.',
      credentials: { secretName: 'git', tokenKey: 'token' },
      ...spec,
    },
  }
}

/** The PullRequest once it is settled. */
export function settledPull(team: Team, name: string): Promise<Stored> {
  return team.settled(name, 'pullrequest')
}

/** `team.waitFor` for a PullRequest; throws where it does not come true in a minute. */
export async function waitForPull(team: Team, name: string, condition: string): Promise<void> {
  await team.waitFor(name, condition, '60s', 'pullrequest')
}

/** Requests a PullRequest again, and returns it once that has been handled. */
export async function requestAgain(team: Team, name: string, value = 'now'): Promise<Stored> {
  await team.request(name, value, 'pullrequest')
  return settledPull(team, name)
}

/** Sets the time of the next attempt in the status to the past, for the sweep. */
export async function makeDue(team: Team, name: string): Promise<void> {
  const nextAttemptTime = new Date(Date.now() - 60_000).toISOString().replace(/\.\d+/, '')
  await team.patchStatus(name, { nextAttemptTime }, 'pullrequest')
}
