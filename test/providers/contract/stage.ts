import type { Test } from 'tap'
import type { ApiLogin } from '../../../functions/domain/credentials/login.ts'
import { Failure } from '../../../functions/domain/failure.ts'
import type { Host } from '../../../functions/domain/repository/hosts.ts'
import type { Permit, PullRequests } from '../../../functions/domain/pull-request/pull-requests.ts'
import type { PullRequest } from '../../../functions/domain/resource/resource.ts'
import type { PullRequestSpec } from '../../../functions/domain/spec/spec.ts'
import { succeeded } from '../../../functions/domain/resource/status.ts'
import type { Outcome } from '../../../functions/domain/resource/status.ts'
import type { WithPullRequests } from '../../../functions/domain/pull-request/pull-requests.ts'
import type { ApiTarget } from '../../../functions/domain/pull-request/pull-requests.ts'
import { reconcilePullRequest } from '../../../functions/pull-request/reconcile.ts'
import type { Dialect } from '../../harness/hosts/dialect.ts'
import type { SeenRequest } from '../../harness/hosts/host-handler.ts'
import { startTrustedHost } from '../../harness/hosts/host-server.ts'
import type { HostServer } from '../../harness/hosts/host-server.ts'
import { memoryModel } from '../../harness/hosts/model.ts'
import type { HostModel, MemoryBranches } from '../../harness/hosts/model.ts'
import type { Site } from './site.ts'
import { PEOPLE } from './traits.ts'

/** The result of an attempt, without the credentials that were used. */
export type Reconciled = Omit<Outcome, 'credentialsUsed'>

/** How an attempt is made. */
export interface Terms {
  /** `good-token` where it is not given. */
  readonly login?: ApiLogin
  readonly signal?: AbortSignal
  /** An earlier attempt may have opened it already. */
  readonly again?: boolean
  /** The repositories that are allowed once it is renamed; default: any. */
  readonly permit?: Permit
  /** Another process of Commitlet. */
  readonly by?: WithPullRequests
}

/** A host with one repository, and Commitlet from its policy down to the wire. */
export interface Stage extends Spoken {
  readonly server: Staged['server']
  readonly model: HostModel & { readonly branches: MemoryBranches }
  /** Two users that the host knows. */
  readonly people: readonly [string, string]
  /** Milliseconds, as the memory of limits reads them. */
  readonly clock: { now: number }
  /** A resource that asks for settings → main; each has a uid of its own. */
  resource(spec?: Partial<PullRequestSpec>): PullRequest
  attempt(resource: PullRequest, terms?: Terms): Promise<Reconciled>
  /** The Failure that the attempt ends with; none is an error of the test. */
  failure(resource: PullRequest, terms?: Terms): Promise<Failure>
  /** The port itself. */
  work<T>(resource: PullRequest, work: (pullRequests: PullRequests) => Promise<T>): Promise<T>
  /** Another process, without the first one's queues and limits. */
  readonly elsewhere: WithPullRequests
  /** The requests since the last call. */
  requests(): readonly SeenRequest[]
}

export const BASE = 'main'
export const HEAD = 'settings'
/** The branches of `resource`. */
export const TITLE = 'Settings of the shop'
export const BODY = 'Opened from the cluster.'

/** What the host of a stage is: a stand-in, or a real one with a view of it as a model. */
export interface Staged extends Spoken {
  readonly server: Pick<HostServer, 'fail' | 'forget' | 'seen' | 'violations' | 'origin' | 'baseURL'>
  readonly model: Stage['model']
  readonly people: readonly [string, string]
}

/** A host and its dialect. */
export interface Spoken {
  readonly host: Host
  readonly dialect: Dialect
}

/** A login with this token, which is its identity as well. */
export function loginWith(secret: string): ApiLogin {
  return { username: undefined, secret, identity: secret, secrets: [secret] }
}

/** Starts the host with a branch that holds two commits more than main; it ends with the test. */
export async function startStage(
  t: Test,
  { trust, ...site }: Site,
  { host, dialect }: Spoken,
): Promise<Stage> {
  const people = PEOPLE[host.name] ?? (['dev', 'ops'] as const)
  const model = memoryModel({ people })
  model.branches.set(HEAD, 3)
  const server = await startTrustedHost(t, trust, { dialect, model })
  return stageOn(site, { host, dialect, server, model, people })
}

/** The same on a host that is there already. */
export function stageOn(
  { clock, here, elsewhere }: Omit<Site, 'trust'>,
  { host, dialect, server, model, people }: Staged,
): Stage {
  // A port may be used again: the limits of its former server are over.
  clock.now += 3_600_000
  const repository = `${server.origin}/${model.repository.join('/')}.git`
  let resources = 0
  let counted = server.seen.length

  return {
    host,
    dialect,
    server,
    model,
    people,
    clock,
    elsewhere,
    resource: (spec = {}) =>
      resourceOf({ repository, provider: host.name, ...spec }, `0000-${(resources += 1)}`),
    attempt,
    async failure(resource, terms) {
      const ended = await attempt(resource, terms).catch((error: unknown) => error)
      if (ended instanceof Failure) return ended
      throw new Error('It does not end with a Failure.', { cause: ended })
    },
    work: (resource, work) => here(targetOf(resource), termsOf({}), work),
    requests() {
      const fresh = server.seen.slice(counted)
      counted = server.seen.length
      return fresh
    },
  }

  function attempt(resource: PullRequest, terms: Terms = {}): Promise<Reconciled> {
    const target = targetOf(resource)
    const wanted = { resource, branches: target.branches, again: terms.again ?? false }
    const permit = terms.permit ?? target.permit
    return (terms.by ?? here)({ ...target, permit }, termsOf(terms), (pullRequests) =>
      reconcilePullRequest(wanted, pullRequests),
    )
  }

  function targetOf({ spec }: PullRequest): ApiTarget {
    const branches = { base: spec.baseBranch, head: spec.headBranch, headOwner: undefined }
    return {
      host,
      baseURL: server.baseURL,
      repository: model.repository,
      shown: repository,
      branches,
      permit: () => undefined,
    }
  }
}

/** The resource after an attempt, with the status that it would have. */
export function after(resource: PullRequest, outcome: Reconciled): PullRequest {
  return { ...resource, status: succeeded(resource, { ...outcome, credentialsUsed: 'Primary' }, new Date(0)) }
}

/** The next generation, with a spec that differs in this. */
export function changed(resource: PullRequest, spec: Partial<PullRequestSpec>): PullRequest {
  const metadata = { ...resource.metadata, generation: resource.metadata.generation + 1 }
  return { ...resource, metadata, spec: { ...resource.spec, ...spec } }
}

/** The write requests. */
export function writes(requests: readonly SeenRequest[]): readonly SeenRequest[] {
  return requests.filter(({ method }) => method !== 'GET')
}

function termsOf({ login = loginWith('good-token'), signal }: Terms): {
  readonly login: ApiLogin
  readonly signal: AbortSignal
} {
  return { login, signal: signal ?? new AbortController().signal }
}

function resourceOf(
  spec: Partial<PullRequestSpec> & Pick<PullRequestSpec, 'repository'>,
  uid: string,
): PullRequest {
  return {
    apiVersion: 'commitlet.dev/v1',
    kind: 'PullRequest',
    metadata: { name: 'shop', namespace: 'team', uid, generation: 1, resourceVersion: '1' },
    spec: { baseBranch: BASE, headBranch: HEAD, title: TITLE, body: BODY, ...spec },
  }
}
