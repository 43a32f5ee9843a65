import { authorise } from '../login/authorise.ts'
import { sentWith } from '../domain/credentials/login.ts'
import { requireAPI } from '../domain/repository/target.ts'
import type { Branches } from '../domain/pull-request/pull-requests.ts'
import type { PullRequestSpec } from '../domain/spec/spec.ts'
import type { SoundPullRequest } from '../domain/schema/parse.ts'
import type { Outcome } from '../domain/resource/status.ts'
import { sourcesOf } from '../login/credential-source.ts'
import { claimedPullRequests } from './claimed-pull-requests.ts'
import { logInToAPI } from '../login/log-in.ts'
import type { ApiAccess } from '../login/log-in.ts'
import { reconcilePullRequest } from './reconcile.ts'
import { withFallback } from '../login/with-fallback.ts'
import { withNewToken } from '../login/with-new-token.ts'
import type { Attempt, World } from '../world.ts'

/** Opens the pull request unless it was opened before: PullRequest → Outcome. Throws a Failure for everything else. */
export async function openPullRequest(
  resource: SoundPullRequest,
  world: World,
  attempt: Attempt,
): Promise<Outcome> {
  const { signal, saw, stillThere } = attempt
  const authorised = await authorise(resource, world, signal)
  const { spec } = resource
  const branches = branchesOf(spec)
  const target = { ...requireAPI(resource.target), shown: spec.repository, branches }
  // A response to the second source may contain what was sent with the first: redact both.
  const secrets: string[] = []
  const sent: string[] = []
  const { result, used } = await withFallback(sourcesOf(spec), async (source) => {
    const logIn = (): Promise<ApiAccess> =>
      logInToAPI(source, { resource, authorised, signal, saw, stillThere, sent: [...sent] }, world)
    return withNewToken(logIn, ({ login, permit }) => {
      secrets.push(...login.secrets, login.secret)
      const { namespace } = resource.metadata
      const masking = { login: { ...login, secrets: [...secrets] }, sent: [...sent] }
      sent.push(...sentWith(login))
      const caller = { ...masking, namespace, signal, claim: attempt.claim }
      return world.withPullRequests({ ...target, permit }, caller, (pullRequests) =>
        reconcilePullRequest(
          { resource, branches, again: attempt.again },
          claimedPullRequests(pullRequests, attempt.claim),
        ),
      )
    })
  })
  return { ...result, credentialsUsed: used }
}

/** The name of a branch cannot contain a colon (git-check-ref-format(1)): the text before it is the owner. */
function branchesOf({ baseBranch, headBranch }: PullRequestSpec): Branches {
  const at = headBranch.indexOf(':')
  if (at < 0) return { base: baseBranch, head: headBranch, headOwner: undefined }
  return { base: baseBranch, head: headBranch.slice(at + 1), headOwner: headBranch.slice(0, at) }
}
