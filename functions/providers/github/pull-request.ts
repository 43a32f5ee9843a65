import { elements, member, textMember } from '../../domain/json-value.ts'
import type { Branches, ShownPullRequest } from '../../domain/pull-request/pull-requests.ts'
import { isSerialNumber } from '../api-answer.ts'
import { webAddress } from '../web-address.ts'
import type { Home } from './repository.ts'

/**
 * Whether a pull request of GitHub's API joins these branches of the repository `home`; undefined if its branches
 * cannot be read.
 */
export function joins(pull: unknown, branches: Branches, home: Home): boolean | undefined {
  const head = member(pull, 'head')
  const baseName = textMember(member(pull, 'base'), 'ref')
  const headName = textMember(head, 'ref')
  if (baseName === undefined || headName === undefined) return undefined
  if (baseName !== branches.base || headName !== branches.head) return false
  const { headOwner } = branches
  if (headOwner !== undefined && !same(headOwner, home.owner)) return same(headOwner, ownerOf(head))
  return same(`${home.owner}/${home.name}`, textMember(member(head, 'repo'), 'full_name'))
}

/** A pull request of GitHub's API; undefined if it lacks documented fields. */
export function shownPull(pull: unknown, baseURL: string): ShownPullRequest | undefined {
  const number = member(pull, 'number')
  const url = webAddress(member(pull, 'html_url'), baseURL)
  const title = textMember(pull, 'title')
  const state = stateOf(pull)
  if (!isSerialNumber(number) || url === undefined || title === undefined || state === undefined)
    return undefined
  return { number, url, title, body: textMember(pull, 'body') ?? '', state }
}

/** The logins of a list of users, or of objects with a user, in lower case, because GitHub ignores case. */
export function loginsIn(list: unknown): readonly string[] {
  return elements(list).flatMap((one) => {
    const login = textMember(one, 'login') ?? textMember(member(one, 'user'), 'login')
    return login === undefined ? [] : [login.toLowerCase()]
  })
}

// The repository of a deleted fork is null, but its owner is still known.
function ownerOf(head: unknown): string | undefined {
  const repository = member(head, 'repo')
  const owner = repository === null ? member(head, 'user') : member(repository, 'owner')
  return textMember(owner, 'login')
}

function stateOf(pull: unknown): ShownPullRequest['state'] | undefined {
  const state = textMember(pull, 'state')
  if (state === 'open') return 'open'
  if (state !== 'closed') return undefined
  return textMember(pull, 'merged_at') === undefined ? 'closed' : 'merged'
}

function same(one: string, other: string | undefined): boolean {
  return one.toLowerCase() === other?.toLowerCase()
}
