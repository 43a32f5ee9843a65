import { marked } from '../../functions/domain/pull-request/marker.ts'
import type { Branches } from '../../functions/domain/pull-request/pull-requests.ts'
import type { PullRequest } from '../../functions/domain/resource/resource.ts'
import type { PullRequestSpec } from '../../functions/domain/spec/spec.ts'
import { succeeded } from '../../functions/domain/resource/status.ts'
import { reconcilePullRequest } from '../../functions/pull-request/reconcile.ts'
import { pullRequest, UID } from '../domain/fixtures/pullrequest.ts'
import type { MemoryPullRequests } from '../harness/memory-pull-requests.ts'

/** The branches of the resource. */
export const BRANCHES: Branches = { base: 'main', head: 'feature', headOwner: undefined }
/** The text of the resource's pull request. */
export const OURS = marked({ title: 'New settings', body: 'Closes #12.' }, UID)
/** Web address of the first pull request of a host in memory. */
export const URL = 'https://git.example.com/acme/shop/pulls/1'

type Outcome = Awaited<ReturnType<typeof reconcilePullRequest>>

/** One attempt at the resource; the calls of earlier ones are forgotten. */
export function go(host: MemoryPullRequests, resource = pullRequest(), again = false): Promise<Outcome> {
  host.calls.length = 0
  return reconcilePullRequest({ resource, branches: BRANCHES, again }, host)
}

/** The resource as it is stored after this outcome. */
export function after(resource: PullRequest, outcome: Outcome): PullRequest {
  const status = succeeded(resource, { ...outcome, credentialsUsed: 'Primary' }, new Date())
  return { ...resource, status }
}

/** The resource with a changed spec. */
export function changed(resource: PullRequest, spec: Partial<PullRequestSpec>): PullRequest {
  const { metadata } = resource
  const generation = metadata.generation + 1
  return { ...resource, metadata: { ...metadata, generation }, spec: { ...resource.spec, ...spec } }
}
