import { parseRepositoryAddress } from './domain/address.ts'
import type { RepositoryAddress } from './domain/address.ts'
import type { Landed } from './domain/change.ts'
import { commitMessage, commitletId } from './domain/commit-message.ts'
import { loginFor, requirePathAllowed } from './domain/credentials.ts'
import { requestedAt } from './domain/due.ts'
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

/** Puts the referenced object onto the branch: GitCommit → Outcome. Throws a Failure for everything else. */
export async function commitObject(resource: GitCommit, world: World, attempt: Attempt): Promise<Outcome> {
  const { spec, metadata } = resource
  const { cluster, settings } = world
  const refusal = failureOf(
    await judge(resource, {
      discover: (apiVersion, kind) => cluster.discover(apiVersion, kind),
      referenceScope: settings.referenceScope,
    }),
  )
  if (refusal !== undefined) throw refusal
  const address = parseRepositoryAddress(spec.repository)
  const reference = { ...spec.resourceRef, namespace: spec.resourceRef.namespace ?? metadata.namespace }
  const secretName = spec.credentials?.secretName ?? ''
  const [live, secret] = await Promise.all([
    cluster.readObject(reference),
    cluster.readSecret(metadata.namespace, secretName),
  ])
  // A kind may have become cluster-scoped since it was judged: the scope of references holds for what came back.
  const hasNamespace = live.namespaced || settings.referenceScope === 'namespace'
  const asked = { ...reference, namespace: hasNamespace ? reference.namespace : undefined }
  const content = renderManifest(live.text, asked, reference.path)
  requirePathAllowed(reference.path, secret)
  const login = loginFor(spec, secret, address)
  const identity = {
    ...metadata,
    requestedAt: requestedAt(resource),
    requestedBy: metadata.annotations?.[REQUESTED_BY],
  }
  const change = {
    repository: address,
    branch: spec.branch,
    path: reference.path,
    content,
    message: commitMessage({ ...identity, message: spec.message }),
    id: commitletId(identity.uid, identity.generation, identity.requestedAt),
    author: settings.author,
    ...(attempt.again ? { since: startOf(resource, world.now()) } : {}),
  }
  return outcomeOf(resource, address, await world.push(change, login, attempt.signal))
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
