import { authorise } from '../login/authorise.ts'
import { parseRepositoryAddress } from '../domain/repository/address.ts'
import { apiEndpoint } from '../domain/repository/api-endpoint.ts'
import type { Branches } from '../domain/pull-request/pull-requests.ts'
import type { PullRequest, PullRequestSpec } from '../domain/resource/resource.ts'
import type { Outcome } from '../domain/resource/status.ts'
import { logInToAPI, waysOf } from '../login/log-in.ts'
import { reconcilePullRequest } from './reconcile.ts'
import type { ApiTarget } from '../domain/pull-request/pull-requests.ts'
import { withFallback } from '../login/with-fallback.ts'
import type { Attempt, World } from '../world.ts'

/** Sees to it that the pull request is open, once: PullRequest → Outcome. Throws a Failure for everything else. */
export async function openPullRequest(
  resource: PullRequest,
  world: World,
  attempt: Attempt,
): Promise<Outcome> {
  const { signal } = attempt
  const authorised = await authorise(resource, world, signal)
  const target = targetOf(resource.spec)
  // What the first way has sent may come back in what is said to the second.
  const secrets: string[] = []
  const { result, used } = await withFallback(waysOf(resource.spec), async (way) => {
    const { login, permit } = await logInToAPI(way, { resource, authorised, signal }, world)
    secrets.push(...login.secrets, login.secret)
    const by = { login: { ...login, secrets: [...secrets] }, signal }
    return world.withPullRequests({ ...target, permit }, by, (pullRequests) =>
      reconcilePullRequest({ resource, branches: target.branches, again: attempt.again }, pullRequests),
    )
  })
  return { ...result, credentialsUsed: used }
}

function targetOf(spec: PullRequestSpec): Omit<ApiTarget, 'permit'> {
  const address = parseRepositoryAddress(spec.repository)
  return { ...apiEndpoint(spec, address), shown: spec.repository, branches: branchesOf(spec) }
}

/** A colon cannot be in the name of a branch (git-check-ref-format(1)): what stands before it is an owner. */
function branchesOf({ baseBranch, headBranch }: PullRequestSpec): Branches {
  const at = headBranch.indexOf(':')
  if (at < 0) return { base: baseBranch, head: headBranch, headOwner: undefined }
  return { base: baseBranch, head: headBranch.slice(at + 1), headOwner: headBranch.slice(0, at) }
}
