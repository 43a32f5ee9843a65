import type { EditMergeRequestOptions } from '@gitbeaker/rest'
import type { ApiAnswer } from '../api-answer.ts'
import { elements, member, textMember } from '../../domain/json-value.ts'
import type { Addition } from '../../domain/pull-request/pull-requests.ts'
import { redactedName } from '../../domain/redact.ts'
import { isSerialNumber } from '../api-answer.ts'
import { listIn, numbered } from './pull-request.ts'
import type { GitLabErrorContext } from './pull-request.ts'
import type { Project } from './repository.ts'

interface Person {
  readonly id: number
  /** As it was asked for. */
  readonly name: string
}

/** Changes a merge request. Throws ProviderUnavailable where the answer does not show it. */
export async function edit(
  project: Project,
  number: number,
  fields: EditMergeRequestOptions,
): Promise<ApiAnswer> {
  const answer = await project.asked((at) => project.client.mergeRequests.edit(at, number, fields))
  numbered(number, answer, project.context)
  return answer
}

/** As `add` of PullRequests. */
export async function addDetail(
  project: Project,
  number: number,
  { detail, names }: Omit<Addition, 'number'>,
): Promise<readonly string[]> {
  return detail === 'labels'
    ? addLabels(project, number, names)
    : addPeople(project, number, { detail, names })
}

/** GitLab makes a label that the project does not have, where the token may. */
async function addLabels(
  project: Project,
  number: number,
  names: readonly string[],
): Promise<readonly string[]> {
  const { context } = project
  const complaints = names
    .filter(isSeveral)
    .map(
      (name) =>
        `GitLab has no label with a comma in its name, as ${redactedName(name, context.secrets)}; name it otherwise.`,
    )
  const single = names.filter((name) => !isSeveral(name))
  if (single.length === 0) return complaints
  const { data } = await edit(project, number, { addLabels: single.join(',') })
  const there = elements(member(data, 'labels')).map(lower)
  const left = single.filter((name) => !there.includes(lower(name.trim())))
  return [...complaints, ...left.map((name) => labelLeft(name, context))]
}

async function addPeople(
  project: Project,
  number: number,
  { detail, names }: Omit<Addition, 'number'>,
): Promise<readonly string[]> {
  const { client, context, asked } = project
  const people: Person[] = []
  const complaints: string[] = []
  for (const name of names) {
    const id = idOf(listIn(await asked(() => client.users.all({ username: name })), context), name)
    if (id === undefined) complaints.push(unknownPerson(name, context))
    else people.push({ id, name })
  }
  if (people.length === 0) return complaints
  const shown = await asked((at) => client.mergeRequests.show(at, number))
  numbered(number, shown, context)
  const there = idsIn(shown.data, detail)
  // A PUT replaces them all, and where GitLab takes only one it is the first.
  const ids = [...new Set([...there, ...people.map(({ id }) => id)])]
  if (ids.length === there.length) return complaints
  const fields = detail === 'reviewers' ? { reviewerIds: ids } : { assigneeIds: ids }
  const taken = idsIn((await edit(project, number, fields)).data, detail)
  const left = people.filter(({ id }) => !taken.includes(id))
  return [...complaints, ...left.map(({ name }) => personLeft(name, context))]
}

/** The number of whoever has this user name; undefined: nobody has. */
function idOf(found: readonly unknown[], name: string): number | undefined {
  const person = found.find((one) => lower(textMember(one, 'username')) === lower(name))
  const id = member(person, 'id')
  return isSerialNumber(id) ? id : undefined
}

function idsIn(mergeRequest: unknown, detail: string): readonly number[] {
  return elements(member(mergeRequest, detail))
    .map((person) => member(person, 'id'))
    .filter(isSerialNumber)
}

/** A comma stands between two labels. */
function isSeveral(label: string): boolean {
  return label.includes(',')
}

function labelLeft(name: string, context: GitLabErrorContext): string {
  return `GitLab did not add the label ${redactedName(name, context.secrets)}; have it made in the project, or give the token the right to make labels.`
}

function unknownPerson(name: string, context: GitLabErrorContext): string {
  return `GitLab does not know the user ${redactedName(name, context.secrets)}; look at how the user name is written.`
}

function personLeft(name: string, context: GitLabErrorContext): string {
  return `GitLab did not take ${redactedName(name, context.secrets)}; see whether this user may read the project, and whether this GitLab takes more than one (its free tier does not).`
}

/** User names never differ by case alone. */
function lower(text: unknown): string {
  return typeof text === 'string' ? text.toLowerCase() : ''
}
