import { elements, member, textMember } from '../../domain/json-value.ts'
import type { DraftMark } from '../../domain/pull-request/draft-title.ts'
import type { Branches, ShownPullRequest } from '../../domain/pull-request/pull-requests.ts'
import { isSerialNumber } from '../api-answer.ts'
import { webAddress } from '../web-address.ts'

const STATES: ReadonlyMap<unknown, ShownPullRequest['state']> = new Map([
  ['open', 'open'],
  ['closed', 'closed'],
])
/** As Gitea reads titles where nobody has set others (WORK_IN_PROGRESS_PREFIXES). */
export const DRAFT: DraftMark = { written: 'WIP: ', read: /^\s*(?:(?:wip:|\[wip\])\s*)+/i }

/**
 * Whether a pull request of Gitea's joins these branches of one repository: that of a fork is another one. The label
 * is the bare name of the branch, which `ref` is no more once the branch is deleted (services/convert/pull.go).
 */
export function joins(pull: unknown, { base, head }: Branches): boolean {
  const [from, to] = [member(pull, 'head'), member(pull, 'base')]
  if (textMember(from, 'label') !== head || textMember(to, 'label') !== base) return false
  // Where the fork is deleted it is -1.
  const repository = member(from, 'repo_id')
  return isSerialNumber(repository) && repository === member(to, 'repo_id')
}

/** A pull request as Gitea answers it; undefined where it lacks what its description promises. */
export function shownOf(pull: unknown, baseURL: string): ShownPullRequest | undefined {
  const number = member(pull, 'number')
  const state = member(pull, 'merged') === true ? 'merged' : STATES.get(member(pull, 'state'))
  const title = textMember(pull, 'title')
  const url = webAddress(member(pull, 'html_url'), baseURL)
  if (!isSerialNumber(number) || state === undefined || title === undefined || url === undefined)
    return undefined
  return { number, url, state, title, body: textMember(pull, 'body') ?? '' }
}

/** The user names in a list of people, in lower case: they never differ by case alone. Teams and nobody have none. */
export function loginsIn(people: unknown): readonly string[] {
  return elements(people).flatMap((person) => textMember(person, 'login')?.toLowerCase() ?? [])
}
