import { applyDetails, detailsLeft } from './details.ts'
import { requestedAt } from '../domain/resource/attempt-state.ts'
import { Failure } from '../domain/failure.ts'
import { marked, readMarker, saysTheSame } from '../domain/pull-request/marker.ts'
import type { Marked } from '../domain/pull-request/marker.ts'
import type { Branches, PullRequests, ShownPullRequest } from '../domain/pull-request/pull-requests.ts'
import type { PullRequest, PullRequestStatus } from '../domain/resource/resource.ts'
import type { Outcome } from '../domain/resource/status.ts'

/** What is wanted, and how this attempt stands to others. */
export interface Wanted {
  readonly resource: PullRequest
  readonly branches: Branches
  /** An earlier attempt at this generation and requested-at may have opened it already. */
  readonly again: boolean
}

type Reconciled = Omit<Outcome, 'credentialsUsed'>

/**
 * The one policy for every host: find first, then open, look again where the host says that there is one. A resource
 * opens one pull request in its life: what was merged, closed or taken away stays so. Title and body change only where
 * they still are as this resource has set them; one that somebody else has opened is left as it is.
 * @throws Failure what the port throws, and Conflict where the host says that one is open but shows none
 */
export async function reconcilePullRequest(wanted: Wanted, pullRequests: PullRequests): Promise<Reconciled> {
  const found = await look(wanted, pullRequests)
  if (found !== undefined) return keep(found, wanted.resource, pullRequests)
  const before = wanted.resource.status?.pullRequest
  return before === undefined ? open(wanted, pullRequests) : gone(before)
}

/** The one that this resource is about already: known by number, else its own by its branches, else an open one. */
async function look(wanted: Wanted, pullRequests: PullRequests): Promise<ShownPullRequest | undefined> {
  const { resource, branches } = wanted
  const number = resource.status?.pullRequest?.number
  const known = number === undefined ? undefined : await pullRequests.read(number, branches)
  if (known !== undefined) return known
  const found = await pullRequests.find(branches, mayHaveOpened(wanted) ? 'all' : 'open')
  const ours = found.filter((shown) => readMarker(shown)?.uid === resource.metadata.uid)
  return ours.find(isOpen) ?? ours[0] ?? found.find(isOpen)
}

// One that any attempt before this has opened, whose answer was lost, may be merged by now.
function mayHaveOpened({ resource, again }: Wanted): boolean {
  const { metadata, status } = resource
  const asked = metadata.generation > 1 || requestedAt(resource) !== undefined
  return again || asked || status?.pullRequest !== undefined
}

function isOpen({ state }: ShownPullRequest): boolean {
  return state === 'open'
}

async function open(wanted: Wanted, pullRequests: PullRequests): Promise<Reconciled> {
  const { resource, branches } = wanted
  const { draft = false } = resource.spec
  const text = marked(textOf(resource), resource.metadata.uid)
  const created = await pullRequests.create({ ...text, branches, draft })
  if (created !== 'exists') {
    const details = await applyDetails(created.number, resource, pullRequests)
    return { ...succeeded(created, `Opened #${created.number}: ${created.url}`), details }
  }
  const [other] = await pullRequests.find(branches, 'open')
  if (other === undefined) throw hidden(resource)
  return keep(other, resource, pullRequests)
}

async function keep(
  found: ShownPullRequest,
  resource: PullRequest,
  pullRequests: PullRequests,
): Promise<Reconciled> {
  if (!isOpen(found)) {
    const what = `was ${found.state} and is not opened again; for further changes make another PullRequest`
    return { ...upToDate(found, what), details: 'as before' }
  }
  const marker = readMarker(found)
  if (marker?.uid !== resource.metadata.uid) {
    const what = 'was opened by somebody else, or has lost the mark of this PullRequest, and is left as it is'
    return { ...upToDate(found, what), details: detailsLeft(resource) }
  }
  const kept = await keepText({ ...found, marker }, resource, pullRequests)
  return { ...kept, details: await applyDetails(found.number, resource, pullRequests) }
}

async function keepText(
  ours: ShownPullRequest & { readonly marker: Marked },
  resource: PullRequest,
  pullRequests: PullRequests,
): Promise<Reconciled> {
  const text = textOf(resource)
  if (saysTheSame(ours.marker, text)) return upToDate(ours, 'is open')
  if (ours.marker.edited)
    return upToDate(ours, 'is open; somebody has edited its title or body, which are left so')
  await pullRequests.update(ours, marked(text, resource.metadata.uid))
  return succeeded(ours, `Updated title and body of #${ours.number}: ${ours.url}`)
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

/** Somebody has taken it away, or has it join other branches by now: for these branches it is open no more. */
function gone(before: PullRequestStatus): Reconciled {
  const { number, url } = before
  const state = before.state === 'open' ? 'closed' : before.state
  const message = `#${number} is not there any more, or joins other branches by now, and no second one is opened for this PullRequest; make another PullRequest for that: ${url}`
  return { reason: 'UpToDate', message, pullRequest: { number, url, state }, details: 'as before' }
}

function hidden({ spec }: PullRequest): Failure {
  const message = `The host of ${spec.repository} says that a pull request from ${spec.headBranch} to ${spec.baseBranch} is open, but shows none; it is tried again.`
  return new Failure('Conflict', message)
}
