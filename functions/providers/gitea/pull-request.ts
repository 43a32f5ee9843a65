import { elements, member, textMember } from '../../domain/json-value.ts'
import type { DraftMark } from '../../domain/pull-request/draft-title.ts'
import type { Branches, ShownPullRequest } from '../../domain/pull-request/pull-requests.ts'
import { isSerialNumber } from '../api-answer.ts'
import { webAddress } from '../web-address.ts'

const STATES: ReadonlyMap<unknown, ShownPullRequest['state']> = new Map([
  ['open', 'open'],
  ['closed', 'closed'],
])
/** Gitea's default prefixes of draft titles (WORK_IN_PROGRESS_PREFIXES). */
export const DRAFT: DraftMark = { written: 'WIP: ', read: /^\s*(?:(?:wip:|\[wip\])\s*)+/i }

/**
 * Whether a pull request joins these branches of one repository; a fork is another repository. `label` is the name of
 * the branch; `ref` is not, once the branch is deleted (services/convert/pull.go).
 */
export function joins(pull: unknown, { base, head }: Branches): boolean {
  const [from, to] = [member(pull, 'head'), member(pull, 'base')]
  if (textMember(from, 'label') !== head || textMember(to, 'label') !== base) return false
  // It is -1 for a deleted fork.
  const repository = member(from, 'repo_id')
  return isSerialNumber(repository) && repository === member(to, 'repo_id')
}

/** A pull request in an answer of Gitea; undefined if it lacks documented fields. */
export function shownOf(pull: unknown, baseURL: string): ShownPullRequest | undefined {
  const number = member(pull, 'number')
  const state = member(pull, 'merged') === true ? 'merged' : STATES.get(member(pull, 'state'))
  const title = textMember(pull, 'title')
  const url = webAddress(atItsScheme(textMember(pull, 'html_url'), baseURL), baseURL)
  if (!isSerialNumber(number) || state === undefined || title === undefined || url === undefined)
    return undefined
  return { number, url, state, title, body: textMember(pull, 'body') ?? '' }
}

/**
 * An HTTP address at the API's own host, with HTTPS if the API has that: behind a proxy that ends TLS, Gitea (1.26) writes HTTP
 * unless the proxy sets X-Forwarded-Proto.
 */
function atItsScheme(address: string | undefined, baseURL: string): string | undefined {
  const host = URL.parse(baseURL)?.host ?? ''
  const plain = `http://${host}/`
  return baseURL.startsWith('https:') && address?.startsWith(plain) === true
    ? `https://${host}/${address.slice(plain.length)}`
    : address
}

/** The user names in a list of people, in lower case, because Gitea ignores case. Teams and null entries have none. */
export function loginsIn(people: unknown): readonly string[] {
  return elements(people).flatMap((person) => textMember(person, 'login')?.toLowerCase() ?? [])
}
