import { parseRepositoryAddress } from './domain/address.ts'
import type { RepositoryAddress } from './domain/address.ts'
import type { ChangeDraft, Landed } from './domain/change.ts'
import { commitMessage, commitletId } from './domain/commit-message.ts'
import { loginFor, requirePathAllowed } from './domain/credentials.ts'
import { requestedAt } from './domain/due.ts'
import { Failure } from './domain/failure.ts'
import { failureOf, judge } from './domain/gate.ts'
import { commitURL } from './domain/hosts.ts'
import { renderManifest } from './domain/manifest.ts'
import type { GitCommit } from './domain/resources.ts'
import { REQUESTED_BY } from './domain/resources.ts'
import type { Outcome } from './domain/status.ts'
import type { World } from './world.ts'

/** Clocks of replicas differ: history is searched from this much before the first attempt. */
const CLOCK_MARGIN_MS = 3_600_000
const SHORT_SHA = 12

/** How this attempt stands to others. */
export interface Attempt {
  /** An earlier attempt at the same generation and requested-at may have pushed already. */
  readonly again: boolean
  /** Fires at the attempt's deadline. */
  readonly signal: AbortSignal
}

/**
 * Puts the referenced object onto the branch: GitCommit → Outcome. Throws a Failure for everything else. What an
 * earlier attempt has pushed counts, even where the object is gone meanwhile.
 */
export async function commitObject(resource: GitCommit, world: World, attempt: Attempt): Promise<Outcome> {
  const { spec, metadata } = resource
  await refuseFaulty(resource, world)
  const address = parseRepositoryAddress(spec.repository)
  const [content, secret] = await Promise.all([
    readContent(resource, world).catch(asRefusal),
    world.cluster.readSecret(metadata.namespace, spec.credentials?.secretName ?? ''),
  ])
  requirePathAllowed(spec.resourceRef.path, secret)
  const login = loginFor(spec, secret, address)
  const draft = draftOf(resource, address, world)
  const since = attempt.again ? { since: startOf(resource, world.now()) } : {}
  if (!(content instanceof Failure)) {
    const landed = await world.push({ ...draft, ...since, content }, login, attempt.signal)
    return outcomeOf(resource, address, landed)
  }
  const landed = attempt.again ? await world.find({ ...draft, ...since }, login, attempt.signal) : undefined
  if (landed === undefined) throw content
  return outcomeOf(resource, address, landed)
}

async function refuseFaulty(resource: GitCommit, { cluster, settings }: World): Promise<void> {
  const verdict = await judge(resource, {
    discover: (apiVersion, kind) => cluster.discover(apiVersion, kind),
    referenceScope: settings.referenceScope,
  })
  const refusal = failureOf(verdict)
  if (refusal !== undefined) throw refusal
}

async function readContent(resource: GitCommit, { cluster, settings }: World): Promise<Uint8Array> {
  const { resourceRef } = resource.spec
  const reference = { ...resourceRef, namespace: resourceRef.namespace ?? resource.metadata.namespace }
  const live = await cluster.readObject(reference)
  // A kind may have become cluster-scoped since it was judged: the scope of references holds for what came back.
  const hasNamespace = live.namespaced || settings.referenceScope === 'namespace'
  const asked = { ...reference, namespace: hasNamespace ? reference.namespace : undefined }
  return renderManifest(live.text, asked, reference.path)
}

function asRefusal(error: unknown): Failure {
  if (error instanceof Failure) return error
  throw error
}

/** The change but for its content, and for where history is searched. */
function draftOf(resource: GitCommit, repository: RepositoryAddress, { settings }: World): ChangeDraft {
  const { spec, metadata } = resource
  const identity = {
    ...metadata,
    requestedAt: requestedAt(resource),
    requestedBy: metadata.annotations?.[REQUESTED_BY],
  }
  return {
    repository,
    branch: spec.branch,
    path: spec.resourceRef.path,
    message: commitMessage({ ...identity, message: spec.message }),
    id: commitletId(identity.uid, identity.generation, identity.requestedAt),
    author: settings.author,
  }
}

function startOf(resource: GitCommit, now: Date): Date {
  const started = Date.parse(resource.status?.startedAt ?? '') || now.getTime()
  return new Date(started - CLOCK_MARGIN_MS)
}

function outcomeOf(resource: GitCommit, address: RepositoryAddress, landed: Landed): Outcome {
  const { path } = resource.spec.resourceRef
  const { sha, branch } = landed
  const shortSHA = sha.slice(0, SHORT_SHA)
  const url = commitURL(address, resource.spec.provider, sha)
  const upToDate = landed.outcome === 'unchanged'
  return {
    reason: upToDate ? 'UpToDate' : 'Succeeded',
    message: upToDate
      ? `The branch ${branch} already holds this content at ${path}; no commit was needed.`
      : `Committed as ${shortSHA} to the branch ${branch} at ${path}.`,
    commit: { sha, shortSHA, branch, path, ...(url === undefined ? {} : { url }) },
    credentialsUsed: 'Primary',
  }
}
