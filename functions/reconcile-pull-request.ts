import type { DetailsReading } from './domain/conditions.ts'
import { asFailure, Failure } from './domain/failure.ts'
import { marked, readMarker, saysTheSame } from './domain/marker.ts'
import type { Branches, PullRequestDetails, PullRequests, ShownPullRequest } from './domain/pull-requests.ts'
import type { Condition, PullRequest } from './domain/resources.ts'
import type { Outcome } from './domain/status.ts'

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
 * opens one pull request in its life: what was merged or closed stays so. Title and body change only where they
 * still are as this resource has set them; one that somebody else has opened is left as it is.
 */
export async function reconcilePullRequest(wanted: Wanted, pullRequests: PullRequests): Promise<Reconciled> {
  const found = await look(wanted, pullRequests)
  if (found === undefined) return open(wanted, pullRequests)
  if (found.state !== 'open')
    return { ...upToDate(found, `was ${found.state} and is not opened again`), ...detailsBefore(wanted) }
  const marker = readMarker(found)
  if (marker?.uid !== wanted.resource.metadata.uid)
    return { ...upToDate(found, 'was opened by somebody else and is left as it is'), ...notOurs(wanted) }
  const details = await detailsOf(found, wanted, pullRequests)
  const { spec } = wanted.resource
  const text = { title: spec.title, body: spec.body ?? '' }
  if (saysTheSame(marker, text)) return { ...upToDate(found, 'is open'), ...details }
  if (marker.edited)
    return {
      ...upToDate(found, 'is open; somebody has edited its title or body, which are left so'),
      ...details,
    }
  await pullRequests.update(found, marked(text, marker.uid))
  return { ...succeeded(found, `Updated title and body of #${found.number}: ${found.url}`), ...details }
}

/** The one that this resource is about already: known by number, else by its branches. */
async function look(wanted: Wanted, pullRequests: PullRequests): Promise<ShownPullRequest | undefined> {
  const { resource, branches, again } = wanted
  const { uid } = resource.metadata
  const number = resource.status?.pullRequest?.number
  const known = number === undefined ? undefined : await pullRequests.read(number, branches)
  if (known !== undefined) return known
  // One that an earlier attempt has opened, whose answer was lost, may be merged by now.
  const among = again || number !== undefined ? 'all' : 'open'
  const found = await pullRequests.find(branches, among)
  const ours = found.filter((shown) => readMarker(shown)?.uid === uid)
  const opened = (shown: ShownPullRequest): boolean => shown.state === 'open'
  return ours.find(opened) ?? found.find(opened) ?? ours[0]
}

async function open(wanted: Wanted, pullRequests: PullRequests): Promise<Reconciled> {
  const { resource, branches } = wanted
  const { title, body = '', draft = false } = resource.spec
  const text = marked({ title, body }, resource.metadata.uid)
  const created = await pullRequests.create({ ...text, branches, draft })
  if (created !== 'exists') {
    const details = await detailsOf(created, wanted, pullRequests)
    return { ...succeeded(created, `Opened #${created.number}: ${created.url}`), ...details }
  }
  const [other] = await pullRequests.find(branches, 'open')
  if (other === undefined) throw hidden(resource)
  const ours = readMarker(other)?.uid === resource.metadata.uid
  const details = ours ? await detailsOf(other, wanted, pullRequests) : notOurs(wanted)
  return {
    ...upToDate(other, ours ? 'is open' : 'was opened by somebody else and is left as it is'),
    ...details,
  }
}

type Details = Pick<Outcome, 'details'>

/** Applied once for each generation: what somebody takes away later stays away. */
async function detailsOf(
  { number }: ShownPullRequest,
  { resource }: Wanted,
  pullRequests: PullRequests,
): Promise<Details> {
  const asked = askedDetails(resource)
  if (asked === undefined) return {}
  const before = conditionOf(resource)
  if (before?.status === 'True' && before.observedGeneration === resource.metadata.generation)
    return { details: APPLIED }
  const complaints: string[] = []
  for (const detail of ['labels', 'reviewers', 'assignees'] as const) {
    if (asked[detail].length === 0) continue
    const added = pullRequests.add(number, detail, asked[detail])
    complaints.push(...(await added.catch((error: unknown) => [notAdded(detail, error)])))
  }
  if (complaints.length === 0) return { details: APPLIED }
  const message = `${complaints.join(' ')} Mend it and ask again, or do it by hand.`
  return { details: { applied: 'False', reason: 'NotApplied', message } }
}

function notAdded(detail: keyof PullRequestDetails, error: unknown): string {
  return `The ${detail} could not be added (${asFailure(error).reason}): ${asFailure(error).message}`
}

const APPLIED: DetailsReading = {
  applied: 'True',
  reason: 'Applied',
  message: 'Labels, reviewers and assignees are those of the spec, or more.',
}

function askedDetails({ spec }: PullRequest): PullRequestDetails | undefined {
  const { labels = [], reviewers = [], assignees = [] } = spec
  const asked = labels.length + reviewers.length + assignees.length > 0
  return asked ? { labels, reviewers, assignees } : undefined
}

function notOurs({ resource }: Wanted): Details {
  if (askedDetails(resource) === undefined) return {}
  const message =
    'Somebody else has opened the pull request: its labels, reviewers and assignees are left as they are.'
  return { details: { applied: 'False', reason: 'NotOurs', message } }
}

function detailsBefore({ resource }: Wanted): Details {
  const before = conditionOf(resource)
  if (before === undefined) return {}
  const { status, message } = before
  return { details: { applied: status, reason: status === 'True' ? 'Applied' : 'NotApplied', message } }
}

function conditionOf({ status }: PullRequest): Condition | undefined {
  return status?.conditions?.find(({ type }) => type === 'DetailsApplied')
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

function hidden({ spec }: PullRequest): Failure {
  const message = `The host of ${spec.repository} says that a pull request from ${spec.headBranch} to ${spec.baseBranch} is open, but shows none; it is tried again.`
  return new Failure('Conflict', message)
}
