import { elements, member, textMember } from '../../domain/json-value.ts'
import type { Branches, ShownPullRequest } from '../../domain/pull-request/pull-requests.ts'
import { isSerialNumber } from '../api-answer.ts'
import { webAddress } from '../web-address.ts'

/** A draft is open and has a flag; the API description also names states for drafts and for the merge queue. */
const STATES: ReadonlyMap<unknown, ShownPullRequest['state']> = new Map([
  ['OPEN', 'open'],
  ['DRAFT', 'open'],
  ['QUEUED', 'open'],
  ['MERGED', 'merged'],
  ['DECLINED', 'closed'],
  ['SUPERSEDED', 'closed'],
])

/** Whether a pull request joins these branches of one repository; a fork is another repository. */
export function joins(pull: unknown, { base, head }: Branches): boolean {
  const [source, destination] = [member(pull, 'source'), member(pull, 'destination')]
  const from = repositoryOf(source)
  // The repository of a deleted fork is null.
  if (from === undefined || from !== repositoryOf(destination)) return false
  return branchOf(source) === head && branchOf(destination) === base
}

/** A pull request in an answer of Bitbucket; undefined if it lacks documented fields. */
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
 * Whether the answer to a creation shows one that was there before. Both times are of Bitbucket's clock, and those of a new one
 * are within the request, which took so long; a change sets the second alone.
 */
export function isOlder(pull: unknown, tookMs: number): boolean {
  const [created, written] = ['created_on', 'updated_on'].map((key) =>
    Date.parse(textMember(pull, key) ?? ''),
  )
  return created !== undefined && written !== undefined && written - created > tookMs
}

/**
 * The content of a PUT that changes nothing: Bitbucket clears fields that are left out.
 * Source: its REST API, "Update a pull request", and recorded requests of other clients.
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

/** The reviewers as the content of a PUT. */
function reviewersOf(pull: unknown): readonly unknown[] {
  return elements(member(pull, 'reviewers')).map((account) => {
    const uuid = textMember(account, 'uuid')
    return uuid === undefined ? { account_id: textMember(account, 'account_id') } : { uuid }
  })
}

/** A reviewer as the content of a PUT, by UUID in braces or by account ID. */
export function reviewerNamed(name: string): unknown {
  return name.startsWith('{') ? { uuid: name } : { account_id: name }
}

/** The UUIDs and account IDs of the reviewers, in lower case. */
export function reviewersIn(pull: unknown): ReadonlySet<string> {
  const known = elements(member(pull, 'reviewers')).flatMap((account) => [
    textMember(account, 'uuid'),
    textMember(account, 'account_id'),
  ])
  return new Set(known.flatMap((name) => name?.toLowerCase() ?? []))
}

/** Requests and answers use `description`; the API description also names `summary` with the same text. */
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
