import { Failure } from './domain/failure.ts'
import type { PullRequest } from './domain/resources.ts'
import type { Outcome } from './domain/status.ts'

/** Pull requests are admitted and stored, and end Failed with NotSupported until a release carries them out. */
export function openPullRequest(resource: PullRequest): Promise<Outcome> {
  const { baseBranch, headBranch } = resource.spec
  const message = `Pull requests are not supported yet by this release: open the one from ${headBranch} to ${baseBranch} by hand, or wait for a release that does.`
  return Promise.reject(new Failure('NotSupported', message))
}
