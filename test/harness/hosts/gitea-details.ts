import { elements, member } from '../../../functions/domain/json-value.ts'
import type { HostAnswer, HostCall } from './dialect.ts'
import { AUTHOR, labelBody, reviewBody } from './gitea-bodies.ts'
import { error, page } from './gitea-literal.ts'
import type { HostModel, ModelPull } from './model.ts'

/** A user who exists, and may neither read the repository nor be assigned in it. */
export const OUTSIDER = 'outsider'

/** Unknown names are skipped. */
export function addLabels(pull: ModelPull, call: HostCall, { labels }: HostModel): HostAnswer {
  const known = namesIn(call, 'labels').filter((name) => labels.has(name))
  pull.labels.push(...known.filter((name) => !pull.labels.includes(name)))
  return { status: 200, body: pull.labels.map((name) => labelBody(name, call)) }
}

export function listReviews(pull: ModelPull, call: HostCall): HostAnswer {
  return page(call, pull.reviewers, (login) => reviewBody(login, call))
}

/** One unknown name refuses all of them; otherwise those before one without the right are requested. */
export function askForReviews(pull: ModelPull, call: HostCall, { people }: HostModel): HostAnswer {
  const names = namesIn(call, 'reviewers')
  const unknown = names.find((name) => !isSomebody(name, people))
  if (unknown !== undefined) return error(404, `User '${unknown}' not exist`)
  for (const name of names) {
    if (name === OUTSIDER) return error(422, "Reviewer can't read [user_id: 1, repo_id: 1]")
    if (name === AUTHOR) return error(422, "poster of pr can't be reviewer [user_id: 1, repo_id: 1]")
    if (!pull.reviewers.includes(name)) pull.reviewers.push(name)
  }
  return { status: 201, body: names.map((name) => reviewBody(name, call)) }
}

/** Replaces the assignees, where some are sent; returns the refusal. */
export function assign(pull: ModelPull, call: HostCall, { people }: HostModel): HostAnswer | undefined {
  if (member(call.body, 'assignees') === undefined) return undefined
  const names = namesIn(call, 'assignees')
  const unknown = names.find((name) => !isSomebody(name, people))
  if (unknown !== undefined)
    return error(422, `Assignee does not exist: [name: user does not exist [uid: 0, name: ${unknown}]]`)
  pull.assignees.splice(0, Infinity, ...pull.assignees.filter((name) => names.includes(name)))
  for (const name of names) {
    // An installation in production gives no details.
    if (name === OUTSIDER) return error(500, '')
    if (!pull.assignees.includes(name)) pull.assignees.push(name)
  }
  return undefined
}

function isSomebody(name: string, people: ReadonlySet<string>): boolean {
  return people.has(name) || name === OUTSIDER || name === AUTHOR
}

function namesIn({ body }: HostCall, key: string): readonly string[] {
  return elements(member(body, key)).filter((name) => typeof name === 'string')
}
