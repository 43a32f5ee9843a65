import { applyDetails, detailsLeft } from './details.ts'
import { requestedAt, requestGeneration } from '../domain/resource/attempt-state.ts'
import { Failure } from '../domain/failure.ts'
import { chosen, isOpen, keepFor } from '../domain/pull-request/choice.ts'
import { marked, readMarker, saysTheSame } from '../domain/pull-request/marker.ts'
import type { Marked } from '../domain/pull-request/marker.ts'
import type {
  Branches,
  CreatedPullRequest,
  PullRequests,
  ShownPullRequest,
} from '../domain/pull-request/pull-requests.ts'
import type { PullRequest } from '../domain/resource/resource.ts'
import type { PullRequestStatus } from '../domain/resource/stored-status.ts'
import type { Outcome } from '../domain/resource/status.ts'

/** The wanted pull request, and whether an earlier attempt may have opened it. */
export interface Wanted {
  readonly resource: PullRequest
  readonly branches: Branches
  /** An earlier attempt for this generation and requested-at may already have opened it. */
  readonly again: boolean
}

type Reconciled = Omit<Outcome, 'credentialsUsed'>

/**
 * The policy for every host: find the pull request, else open it; search again if the host reports that one exists. A
 * resource opens one pull request in its life: if it was merged, closed or deleted, it stays so. Title and body change
 * only if they are still as this resource has set them; a pull request that someone else opened is left unchanged.
 * @throws Failure what the port throws, and Conflict if the host reports an open pull request but lists none
 */
export async function reconcilePullRequest(wanted: Wanted, pullRequests: PullRequests): Promise<Reconciled> {
  const found = await findExisting(wanted, pullRequests)
  if (found !== undefined) return keep(found, wanted.resource, pullRequests)
  const previous = wanted.resource.status?.pullRequest
  return previous === undefined ? open(wanted, pullRequests) : noLongerFound(previous)
}

/** The existing pull request: by its number in the status, else an own one by its branches, else any open one. */
async function findExisting(
  wanted: Wanted,
  pullRequests: PullRequests,
): Promise<ShownPullRequest | undefined> {
  const { resource, branches } = wanted
  const number = resource.status?.pullRequest?.number
  const known = number === undefined ? undefined : await pullRequests.read(number, branches)
  if (known !== undefined) return known
  const { uid } = resource.metadata
  const found = await pullRequests.find(branches, mayHaveOpened(wanted) ? 'all' : 'open', keepFor(uid))
  return chosen(found, uid)
}

// An earlier attempt may have opened one without learning of it, and it may be merged by now.
function mayHaveOpened({ resource, again }: Wanted): boolean {
  const { metadata, status } = resource
  const wasRequestedAgain = requestGeneration(metadata) > 1 || requestedAt(resource) !== undefined
  return again || wasRequestedAgain || status?.pullRequest !== undefined
}

async function open(wanted: Wanted, pullRequests: PullRequests): Promise<Reconciled> {
  const { resource, branches } = wanted
  const { draft = false } = resource.spec
  const { uid } = resource.metadata
  const text = marked(textOf(resource), uid)
  const created = await pullRequests.create({ ...text, branches, draft })
  if (created !== 'exists') {
    const details = await applyDetails(created.number, resource, pullRequests)
    return { ...succeeded(created, openedMessage(created)), details }
  }
  const other = chosen(await pullRequests.find(branches, 'open', keepFor(uid)), uid)
  if (other === undefined) throw notListed(resource)
  return keep(other, resource, pullRequests)
}

function openedMessage({ number, url, replaced = false }: CreatedPullRequest): string {
  if (!replaced) return `Opened #${number}: ${url}`
  return `#${number} was open already when Commitlet asked to open one, and the host has replaced its title and body with those of this PullRequest: ${url}`
}

async function keep(
  found: ShownPullRequest,
  resource: PullRequest,
  pullRequests: PullRequests,
): Promise<Reconciled> {
  if (!isOpen(found)) {
    const what = `was ${found.state} and is not opened again; create another PullRequest for further changes`
    return { ...upToDate(found, what), details: 'as before' }
  }
  const marker = readMarker(found)
  if (marker?.uid !== resource.metadata.uid) {
    const what =
      'was opened by someone else, or has lost the marker of this PullRequest, and is left unchanged'
    return { ...upToDate(found, what), details: detailsLeft(resource) }
  }
  const kept = await keepText({ ...found, marker }, resource, pullRequests)
  return { ...kept, details: await applyDetails(found.number, resource, pullRequests) }
}

async function keepText(
  own: ShownPullRequest & { readonly marker: Marked },
  resource: PullRequest,
  pullRequests: PullRequests,
): Promise<Reconciled> {
  const text = textOf(resource)
  if (saysTheSame(own.marker, text)) return upToDate(own, 'is open')
  if (own.marker.edited)
    return upToDate(own, 'is open; someone has edited its title or body, which are left unchanged')
  await pullRequests.update(own, marked(text, resource.metadata.uid))
  return succeeded(own, `Updated title and body of #${own.number}: ${own.url}`)
}

function textOf({ spec }: PullRequest): { readonly title: string; readonly body: string } {
  return { title: spec.title, body: spec.body ?? '' }
}

function upToDate(shown: ShownPullRequest, what: string): Reconciled {
  return { reason: 'UpToDate', message: `#${shown.number} ${what}: ${shown.url}`, ...statusOf(shown) }
}

function succeeded(shown: ShownPullRequest, message: string): Reconciled {
  return { reason: 'Succeeded', message, ...statusOf(shown) }
}

function statusOf({ number, url, state }: ShownPullRequest): Pick<Outcome, 'pullRequest'> {
  return { pullRequest: { number, url, state } }
}

/** Someone has deleted it or changed its branches: for the branches of the spec it is no longer open. */
function noLongerFound(previous: PullRequestStatus): Reconciled {
  const { number, url } = previous
  const state = previous.state === 'open' ? 'closed' : previous.state
  const message = `#${number} no longer exists or has other branches now, and Commitlet opens no second one for this PullRequest; create another PullRequest for that: ${url}`
  return { reason: 'UpToDate', message, pullRequest: { number, url, state }, details: 'as before' }
}

function notListed({ spec }: PullRequest): Failure {
  const message = `The host of ${spec.repository} reports that a pull request from ${spec.headBranch} to ${spec.baseBranch} is open, but lists none; Commitlet retries automatically.`
  return new Failure('Conflict', message)
}
