import { anySignal, OVER } from '../domain/deadline.ts'
import { authorise } from '../login/authorise.ts'
import { isAccountRefused, retryForbidden } from '../cluster/rbac-retry.ts'
import type { ChangeDraft, FileChange, Landed } from '../domain/commit/change.ts'
import type { Login } from '../domain/credentials/login.ts'
import { commitMessage } from '../domain/commit/commit-message.ts'
import { commitletId } from '../domain/commit/commit-id.ts'
import { commitSeals } from '../domain/commit/commit-seal.ts'
import { pushPlace } from '../domain/commit/push-place.ts'
import { stampKeysOf } from '../domain/gate/settings.ts'
import { requestedAt, requestGeneration, requestStart } from '../domain/resource/attempt-state.ts'
import { mustMove, tellBoth, watchPushes } from '../domain/resource/late-push.ts'
import { asFailure, Failure } from '../domain/failure.ts'
import { heapSize } from '../domain/network/heap-size.ts'
import { requestedBy } from '../domain/requester/requester.ts'
import type { SoundGitCommit } from '../domain/schema/parse.ts'
import type { ReferenceField } from '../domain/spec/spec.ts'
import type { Requester } from '../domain/requester/requester.ts'
import type { Outcome } from '../domain/resource/status.ts'
import { searchedFrom } from '../domain/commit/clock-margin.ts'
import { bytesBeyondUsual, secretsOf, withPasswordHint } from '../domain/credentials/login.ts'
import { sourcesOf } from '../login/credential-source.ts'
import { logIn } from '../login/log-in.ts'
import { openSigner } from '../login/open-signer.ts'
import { withFallback } from '../login/with-fallback.ts'
import { withNewToken } from '../login/with-new-token.ts'
import type { Attempt, World } from '../world.ts'
import { filesOf, readFiles } from './files.ts'
import type { SetFields, Share } from './sources/source.ts'
import { outcomeOf } from './outcome.ts'
import { earlierOf, sourcesRead } from './sources-read.ts'

/**
 * Commits the referenced object to the branch: GitCommit → Outcome. Throws a Failure for everything else. A commit that
 * an earlier attempt has pushed counts, even if the object no longer exists.
 */
export async function commitObject(
  resource: SoundGitCommit,
  world: World,
  attempt: Attempt,
): Promise<Outcome> {
  const over = new AbortController()
  try {
    const reads = anySignal([attempt.signal, over.signal])
    return await readAndCommit(resource, world, { ...attempt, reads })
  } finally {
    over.abort(OVER)
  }
}

/** `reads`: fires when the attempt is over, however it has ended: then nobody waits for an object or an edit any more. */
async function readAndCommit(
  resource: SoundGitCommit,
  world: World,
  attempt: Attempt & { readonly reads: AbortSignal },
): Promise<Outcome> {
  const { signal, reads, saw, stillThere } = attempt
  const sightings = new Map<ReferenceField, string>()
  const sawSource: Attempt['saw'] = (field, version) => {
    sightings.set(field, version)
    saw(field, version)
  }
  const authorised = await authorise(resource, world, signal)
  const { requester, verdict } = authorised
  const { namespace } = resource.metadata
  const setFields: SetFields = (before, edit) => world.editFile(before, edit, { namespace, signal: reads })
  const share: Share = (work) => world.workFor(namespace, work, signal)
  const { cluster } = world
  const asking = { cluster, signal }
  const { largeObjects: large } = world
  const reader = { cluster, served: verdict.served, saw: sawSource, share, setFields, large, signal: reads }
  const read = async (): Promise<readonly FileChange[]> => {
    const files = await readFiles(resource, reader)
    // The namespace may have been deleted meanwhile, and made again by others: there the names mean other objects.
    if (sightings.size > 0) await stillThere()
    return files
  }
  const reading = retryForbidden(read, isAccountRefused, asking)
    .catch(asFailure)
    .then((files) => {
      const bytes = bytesOf(resource, files)
      // A host may take its time to log in.
      attempt.turn.made(bytes)
      return { files, bytes }
    })
  const signing = openSigner({ resource, authorised, signal, saw, stillThere }, world).catch(asFailure)
  const { isRequested } = attempt
  const draft = (sources?: string): ChangeDraft =>
    draftOf(resource, { requester, sources, isRequested }, world)
  const since = startOf(resource, world.now())
  const ownPushes = watchPushes(false)
  const pushing = { ...attempt, pushWatch: tellBoth(ownPushes, attempt.pushWatch) }
  const commitByAPI =
    resource.spec.commitVia === 'API' ? world.commitsByAPI(resource.target, namespace) : undefined
  const land = async (login: Login): Promise<LandedSources | Failure> => {
    const { files: read, bytes } = await reading
    const opened = await signing
    // Like a file that cannot be read: what an earlier attempt has pushed counts all the same.
    const files = opened instanceof Failure && !(read instanceof Failure) ? opened : read
    const sources = sourcesRead(resource, files, sightings)
    const { searched, isSame } = earlierOf(resource, { again: attempt.again, sources })
    if (files instanceof Failure && searched === undefined) return files
    // All that is left is to wait: for the branch's next push, and for its remote.
    attempt.turn.park(bytes + bytesBeyondUsual(login))
    if (searched !== undefined && (!isSame || files instanceof Failure)) {
      // Of a follower, that commit is counted once, and what is there now is left to the next attempt.
      const landed = await world.find({ ...draft(searched.sources), since }, login, attempt)
      if (landed !== undefined) return { landed, sources: searched.sources }
    }
    if (files instanceof Failure) return files
    if (sources !== undefined) await attempt.committing?.(sources)
    const own = opened instanceof Failure ? undefined : opened?.signer
    const signer = own && world.shareSigner(namespace, own)
    // So may a push with the login before this one, whose answer was lost.
    const mayBeThere = isSame || ownPushes.mayBeLate()
    const change = { ...draft(sources), ...(mayBeThere ? { since } : {}), files, signer, commitByAPI }
    return { landed: await world.push(change, login, pushing), sources }
  }
  // A response to the second source may contain what was sent with the first: redact both.
  const secrets: string[] = []
  const { result, used } = await withFallback(sourcesOf(resource.spec), async (source) => {
    const logInNow = async (): Promise<Login> => {
      await attempt.turn.resume(signal)
      return logIn(source, { resource, authorised, signal, saw, stillThere }, world)
    }
    return withNewToken(logInNow, async (login) => {
      const opened = await signing
      secrets.push(...secretsOf(login), ...(opened instanceof Failure ? [] : (opened?.secrets ?? [])))
      return land({ ...login, secrets: [...secrets] }).catch((error: unknown) => {
        throw withPasswordHint(error, login, resource.target)
      })
    })
  })
  if (result instanceof Failure) throw result
  const { landed, sources } = result
  return { ...outcomeOf(resource, landed, used), ...(sources === undefined ? {} : { sources }) }
}

/** What has landed, and of a follower the digest of its sources. */
interface LandedSources {
  readonly landed: Landed
  readonly sources: string | undefined
}

/** What an attempt keeps in memory while it waits for its push, in bytes. */
function bytesOf({ metadata, spec, status }: SoundGitCommit, files: readonly FileChange[] | Failure): number {
  const contents =
    files instanceof Failure ? [] : files.map(({ content, keeps = 0 }) => content?.length ?? keeps)
  return contents.reduce((sum, length) => sum + length, heapSize([metadata, spec, status]))
}

/** What a change depends on besides its resource. */
interface DraftTerms extends Pick<Attempt, 'isRequested'> {
  readonly requester: Requester
  readonly sources: string | undefined
}

/** The change without the contents of its files and without the start of the history search. */
function draftOf(
  resource: SoundGitCommit,
  { requester, sources, isRequested }: DraftTerms,
  { settings }: World,
): ChangeDraft {
  const { spec, metadata } = resource
  const identity = {
    ...metadata,
    generation: requestGeneration(metadata),
    requestedAt: requestedAt(resource),
    sources,
    requestedBy: requestedBy(requester, settings.requestedByTrailer),
  }
  const id = commitletId(identity)
  const { text: repository } = resource.target.address
  const sealed = { id, repository, branch: spec.branch, start: requestStart(resource) }
  const seals = commitSeals(sealed, stampKeysOf(settings))
  return {
    namespace: metadata.namespace,
    repository: resource.target.address,
    branch: spec.branch,
    files: filesOf(resource),
    message: commitMessage({ ...identity, message: spec.message, seals: seals.written }),
    id,
    seals: seals.sought,
    isRequested,
    author: settings.author,
    latePush: mustMove(resource.status ?? {}, pushPlace(resource)),
  }
}

function startOf(resource: SoundGitCommit, now: Date): Date {
  const started = Date.parse(resource.status?.startedAt ?? '') || now.getTime()
  return searchedFrom(new Date(started))
}
