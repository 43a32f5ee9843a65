import { elements, member, textMember } from '../../domain/json-value.ts'
import type { Branches, ShownPullRequest } from '../../domain/pull-request/pull-requests.ts'
import { isSerialNumber } from '../api-answer.ts'
import { webAddress } from '../web-address.ts'

/** A draft is an open one with a mark of its own; the description names states for it and for the merge queue too. */
const STATES: ReadonlyMap<unknown, ShownPullRequest['state']> = new Map([
  ['OPEN', 'open'],
  ['DRAFT', 'open'],
  ['QUEUED', 'open'],
  ['MERGED', 'merged'],
  ['DECLINED', 'closed'],
  ['SUPERSEDED', 'closed'],
])

/** Whether a pull request of Bitbucket's joins these branches of one repository: that of a fork is another one. */
export function joins(pull: unknown, { base, head }: Branches): boolean {
  const [source, destination] = [member(pull, 'source'), member(pull, 'destination')]
  const from = repositoryOf(source)
  // The repository of a fork that is deleted is null.
  if (from === undefined || from !== repositoryOf(destination)) return false
  return branchOf(source) === head && branchOf(destination) === base
}

/** A pull request as Bitbucket answers it; undefined where it lacks what its description promises. */
export function shownOf(pull: unknown, baseURL: string): ShownPullRequest | undefined {
  const number = member(pull, 'id')
  const state = STATES.get(member(pull, 'state'))
  const title = textMember(pull, 'title')
  const url = webAddress(member(member(member(pull, 'links'), 'html'), 'href'), baseURL)
  if (!isSerialNumber(number) || state === undefined || title === undefined || url === undefined)
    return undefined
  if (!isOnSite(url, baseURL)) return undefined
  return { number, url, state, title, body: bodyOf(pull) }
}

/**
 * What a PUT has to hold so that it changes nothing: Bitbucket empties what is left out.
 * Source: its REST API, "Update a pull request", and what clients of it have recorded.
 */
export function writtenOf(pull: unknown): Readonly<Record<string, unknown>> {
  const flags = ['draft', 'close_source_branch'].map((key) => [key, member(pull, key)] as const)
  return {
    title: textMember(pull, 'title') ?? '',
    description: bodyOf(pull),
    reviewers: reviewersOf(pull),
    ...Object.fromEntries(flags.filter(([, value]) => typeof value === 'boolean')),
  }
}

/** The reviewers as a PUT takes them. */
function reviewersOf(pull: unknown): readonly unknown[] {
  return elements(member(pull, 'reviewers')).map((account) => {
    const uuid = textMember(account, 'uuid')
    return uuid === undefined ? { account_id: textMember(account, 'account_id') } : { uuid }
  })
}

/** A person as a PUT takes them, by UUID in braces or by account ID. */
export function reviewerNamed(name: string): unknown {
  return name.startsWith('{') ? { uuid: name } : { account_id: name }
}

/** Whether this person is among the reviewers. */
export function isReviewer(pull: unknown, name: string): boolean {
  const wanted = name.toLowerCase()
  return elements(member(pull, 'reviewers'))
    .flatMap((account) => [textMember(account, 'uuid'), textMember(account, 'account_id')])
    .some((known) => known?.toLowerCase() === wanted)
}

/** The description names `summary`, and its text besides `description`, which is what is sent and answered. */
function bodyOf(pull: unknown): string {
  return textMember(pull, 'description') ?? textMember(member(pull, 'summary'), 'raw') ?? ''
}

function branchOf(end: unknown): string | undefined {
  return textMember(member(end, 'branch'), 'name')
}

function repositoryOf(end: unknown): string | undefined {
  return textMember(member(end, 'repository'), 'full_name')?.toLowerCase()
}

/** Bitbucket's web site is the host of its API without `api.`. */
function isOnSite(url: string, baseURL: string): boolean {
  const { hostname } = new URL(baseURL)
  return [hostname, hostname.replace(/^api\./, '')].includes(new URL(url).hostname)
}
