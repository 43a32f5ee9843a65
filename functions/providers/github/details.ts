import type { ApiAnswer } from '../api-answer.ts'
import { notUnderstood } from '../api-failure.ts'
import { complaintsAbout, MOST_NAMED } from '../complaints.ts'
import { elements, isRecord, member, textMember } from '../../domain/json-value.ts'
import type { Addition, PullRequestDetails } from '../../domain/pull-request/pull-requests.ts'
import { redactedName, redact } from '../../domain/redact.ts'
import { loginsIn } from './pull-request.ts'
import { githubFailure, wordsOf } from './errors.ts'
import type { Repository } from './repository.ts'

/** One kind of detail in GitHub's API. */
interface Detail {
  readonly path: string
  readonly status: number
  /** The names that the pull request has according to the answer, in lower case; undefined: the answer has no list. */
  readonly taken: (data: unknown) => readonly string[] | undefined
  /** The beginning of the message for a quoted name that was not added; `remedy` is its end. */
  readonly refused: (name: string) => string
  readonly remedy: string
}

const DETAILS: Readonly<Record<keyof PullRequestDetails, Detail>> = {
  labels: {
    path: '/issues/{number}/labels',
    status: 200,
    taken: (data) =>
      Array.isArray(data)
        ? elements(data).map((label) => (textMember(label, 'name') ?? '').toLowerCase())
        : undefined,
    refused: (name) => `GitHub did not add the label ${name}`,
    remedy: 'name a label that the repository has',
  },
  reviewers: {
    path: '/pulls/{number}/requested_reviewers',
    status: 201,
    taken: (data) => loginsOf(data, 'requested_reviewers'),
    refused: (name) => `${name} cannot be asked for a review on GitHub`,
    remedy: 'name the login of a user who may read the repository and has not opened the pull request',
  },
  assignees: {
    path: '/issues/{number}/assignees',
    status: 201,
    taken: (data) => loginsOf(data, 'assignees'),
    refused: (name) => `${name} cannot be assigned on GitHub`,
    remedy: 'name the login of a user who may write to the repository, and ten users at most',
  },
}

/** Implements `add` of the port. Reviews of teams are not supported. */
export async function addDetails(repository: Repository, addition: Addition): Promise<readonly string[]> {
  const { number, detail, names } = addition
  if (detail !== 'reviewers') return post(repository, addition)
  const teams = names.filter((name) => name.includes('/'))
  const requested = await requestedReviewers(repository, number)
  const missing = names.filter((name) => !teams.includes(name) && !requested.includes(name.toLowerCase()))
  const complaints = missing.length === 0 ? [] : await post(repository, { ...addition, names: missing })
  return [...complaintsAbout(teams, (name) => noTeam(name, repository)), ...complaints]
}

/** Users who were asked for a review or have given one: GitHub removes a user from the first list after the review. */
async function requestedReviewers(repository: Repository, number: number): Promise<readonly string[]> {
  const path = '/pulls/{number}/requested_reviewers'
  const answer = await repository.ask(() => ({ method: 'GET', path, parameters: { number } }))
  if (answer.status !== 200) throw githubFailure(answer, repository.context)
  if (!isRecord(answer.data)) throw notUnderstood(answer, repository.context)
  const requested = new Set(loginsIn(member(answer.data, 'users')))
  const reviews = { method: 'GET', path: '/pulls/{number}/reviews', parameters: { number } } as const
  for await (const review of repository.strangers(reviews))
    for (const login of loginsIn([review])) requested.add(login)
  return [...requested]
}

async function post(repository: Repository, { number, detail, names }: Addition): Promise<readonly string[]> {
  const { path, status, taken, refused, remedy } = DETAILS[detail]
  const parameters = { number, [detail]: names }
  const answer = await repository.ask(() => ({ method: 'POST', path, parameters }))
  // GitHub accepts all of them or none, and does not report which one it refuses.
  if (answer.status === 422 && names.length > 1) return oneByOne(repository, { number, detail, names })
  if (answer.status === 422) return complaints(names, wordsIn(answer, repository))
  if (answer.status !== status) throw githubFailure(answer, repository.context)
  const held = taken(answer.data)
  if (held === undefined) throw notUnderstood(answer, repository.context)
  return complaints(
    names.filter((name) => !held.includes(name.toLowerCase())),
    '',
  )

  function complaints(left: readonly string[], words: string): readonly string[] {
    return complaintsAbout(
      left,
      (name) => `${refused(redactedName(name, repository.context.secrets))}${words}; ${remedy}.`,
    )
  }
}

async function oneByOne(repository: Repository, addition: Addition): Promise<readonly string[]> {
  const complaints: string[] = []
  for (const [index, name] of addition.names.entries()) {
    // Each costs a request.
    if (complaints.length >= MOST_NAMED) return [...complaints, notTried(addition.names.length - index)]
    complaints.push(...(await post(repository, { ...addition, names: [name] })))
  }
  return complaints
}

function wordsIn({ data }: ApiAnswer, { context }: Repository): string {
  const quoted = redact(wordsOf(data) ?? '', context.secrets)
  return quoted === undefined || quoted === '' ? '' : ` ("${quoted}")`
}

function notTried(count: number): string {
  return `GitHub refused ${MOST_NAMED} names, so ${count} more were not tried; remove those that it refused.`
}

function noTeam(name: string, repository: Repository): string {
  return `${redactedName(name, repository.context.secrets)} is a team, and reviews of teams are not supported yet; name the logins of users.`
}

function loginsOf(data: unknown, key: string): readonly string[] | undefined {
  const list = member(data, key)
  return Array.isArray(list) ? loginsIn(list) : undefined
}
