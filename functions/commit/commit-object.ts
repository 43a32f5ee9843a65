import { authorise } from '../login/authorise.ts'
import { isAccountRefused, retryForbidden } from '../cluster/rbac-retry.ts'
import type { ChangeDraft, FileChange, Landed } from '../domain/commit/change.ts'
import type { Login } from '../domain/credentials/login.ts'
import { commitMessage } from '../domain/commit/commit-message.ts'
import { commitletId } from '../domain/commit/commit-id.ts'
import { requestedAt } from '../domain/resource/attempt-state.ts'
import { MISSING } from '../domain/resource/waiting.ts'
import { asFailure, Failure } from '../domain/failure.ts'
import { requestedBy } from '../domain/requester/requester.ts'
import type { SoundGitCommit } from '../domain/schema/parse.ts'
import type { Requester } from '../domain/requester/requester.ts'
import type { Outcome } from '../domain/resource/status.ts'
import { secretsOf, withPasswordHint } from '../domain/credentials/login.ts'
import { sourcesOf } from '../login/credential-source.ts'
import { logIn } from '../login/log-in.ts'
import { withFallback } from '../login/with-fallback.ts'
import type { Attempt, World } from '../world.ts'
import { filesOf, readFiles } from './files.ts'
import { outcomeOf } from './outcome.ts'

/** The clocks of replicas differ: the history is searched from this long before the first attempt. */
const CLOCK_MARGIN_MS = 3_600_000

/**
 * Commits the referenced object to the branch: GitCommit → Outcome. Throws a Failure for everything else. A commit that
 * an earlier attempt has pushed counts, even if the object no longer exists.
 */
export async function commitObject(
  resource: SoundGitCommit,
  world: World,
  attempt: Attempt,
): Promise<Outcome> {
  const { signal, saw } = attempt
  const authorised = await authorise(resource, world, signal)
  const { requester, verdict } = authorised
  const read = (): Promise<readonly FileChange[]> => readFiles(resource, verdict.served, world)
  const reading = retryForbidden(read, isAccountRefused, signal).catch(asFailure)
  const draft = draftOf(resource, requester, world)
  const since = attempt.again ? { since: startOf(resource, world.now()) } : {}
  const land = async (login: Login): Promise<Landed | Failure> => {
    const files = await reading
    if (files instanceof Failure && files.reason === 'ReferenceNotFound') saw('spec.resourceRef', MISSING)
    if (files instanceof Failure && !attempt.again) return files
    // All that is left is to wait: for the branch's next push, and for its remote.
    attempt.turn.park(bytesOf(resource, files))
    if (!(files instanceof Failure)) return world.push({ ...draft, ...since, files }, login, attempt)
    return (await world.find({ ...draft, ...since }, login, signal)) ?? files
  }
  // A response to the second source may contain what was sent with the first: redact both.
  const secrets: string[] = []
  const { result, used } = await withFallback(sourcesOf(resource.spec), async (source) => {
    await attempt.turn.resume(signal)
    const login = await logIn(source, { resource, authorised, signal, saw }, world)
    secrets.push(...secretsOf(login))
    return land({ ...login, secrets: [...secrets] }).catch((error: unknown) => {
      throw withPasswordHint(error, login, resource.target)
    })
  })
  if (result instanceof Failure) throw result
  return outcomeOf(resource, result, used)
}

/** What an attempt keeps in memory while it waits for its push. */
function bytesOf({ metadata, spec, status }: SoundGitCommit, files: readonly FileChange[] | Failure): number {
  const contents = files instanceof Failure ? [] : files.map(({ content }) => content.length)
  return contents.reduce((sum, length) => sum + length, JSON.stringify([metadata, spec, status]).length)
}

/** The change without the contents of its files and without the start of the history search. */
function draftOf(resource: SoundGitCommit, requester: Requester, { settings }: World): ChangeDraft {
  const { spec, metadata } = resource
  const identity = {
    ...metadata,
    requestedAt: requestedAt(resource),
    requestedBy: requestedBy(requester, settings.requestedByTrailer),
  }
  return {
    namespace: metadata.namespace,
    repository: resource.target.address,
    branch: spec.branch,
    files: filesOf(resource),
    message: commitMessage({ ...identity, message: spec.message }),
    id: commitletId(identity.uid, identity.generation, identity.requestedAt),
    author: settings.author,
  }
}

function startOf(resource: SoundGitCommit, now: Date): Date {
  const started = Date.parse(resource.status?.startedAt ?? '') || now.getTime()
  return new Date(started - CLOCK_MARGIN_MS)
}
