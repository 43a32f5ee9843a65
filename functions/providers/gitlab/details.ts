import type { EditMergeRequestOptions } from '@gitbeaker/rest'
import type { ApiAnswer } from '../api-answer.ts'
import { elements, member, textMember } from '../../domain/json-value.ts'
import type { Addition } from '../../domain/pull-request/pull-requests.ts'
import { redactedName } from '../../domain/redact.ts'
import { isSerialNumber } from '../api-answer.ts'
import { complaintsAbout } from '../complaints.ts'
import { listIn, numbered } from './pull-request.ts'
import type { GitLabErrorContext } from './pull-request.ts'
import type { Project } from './repository.ts'

interface Person {
  readonly id: number
  /** As the spec names the person. */
  readonly name: string
}

/** Changes a merge request. Throws ProviderUnavailable if the answer does not show it. */
export async function edit(
  project: Project,
  number: number,
  fields: EditMergeRequestOptions,
): Promise<ApiAnswer> {
  const answer = await project.askForSuccess((at) => project.client.mergeRequests.edit(at, number, fields))
  numbered(number, answer, project.context)
  return answer
}

/** Implements `add` of PullRequests. */
export async function addDetail(
  project: Project,
  number: number,
  { detail, names }: Omit<Addition, 'number'>,
): Promise<readonly string[]> {
  return detail === 'labels'
    ? addLabels(project, number, names)
    : addPeople(project, number, { detail, names })
}

/** GitLab creates a label that the project does not have, if the token has the right to. */
async function addLabels(
  project: Project,
  number: number,
  names: readonly string[],
): Promise<readonly string[]> {
  const { context } = project
  const complaints = complaintsAbout(
    names.filter(isMoreThanOne),
    (name) =>
      `GitLab labels cannot have a comma in their name, as ${redactedName(name, context.secrets)} has; use another name.`,
  )
  const single = names.filter((name) => !isMoreThanOne(name))
  if (single.length === 0) return complaints
  const { data } = await edit(project, number, { addLabels: single.join(',') })
  const there = elements(member(data, 'labels')).map(lower)
  const left = single.filter((name) => !there.includes(lower(name.trim())))
  return [...complaints, ...complaintsAbout(left, (name) => labelLeft(name, context))]
}

async function addPeople(
  project: Project,
  number: number,
  { detail, names }: Omit<Addition, 'number'>,
): Promise<readonly string[]> {
  const { client, context, askForSuccess } = project
  const people: Person[] = []
  const unknown: string[] = []
  for (const name of names) {
    const id = idOf(listIn(await askForSuccess(() => client.users.all({ username: name })), context), name)
    if (id === undefined) unknown.push(name)
    else people.push({ id, name })
  }
  const complaints = complaintsAbout(unknown, (name) => unknownPerson(name, context))
  if (people.length === 0) return complaints
  const shown = await askForSuccess((at) => client.mergeRequests.show(at, number))
  numbered(number, shown, context)
  const there = idsIn(shown.data, detail)
  // A PUT replaces all of them; a GitLab that allows only one uses the first.
  const ids = [...new Set([...there, ...people.map(({ id }) => id)])]
  if (ids.length === there.length) return complaints
  const fields = detail === 'reviewers' ? { reviewerIds: ids } : { assigneeIds: ids }
  const taken = idsIn((await edit(project, number, fields)).data, detail)
  const left = people.filter(({ id }) => !taken.includes(id)).map(({ name }) => name)
  return [...complaints, ...complaintsAbout(left, (name) => personLeft(name, context))]
}

/** The ID of the user with this user name; undefined: there is none. */
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

/** GitLab's API separates labels with commas. */
function isMoreThanOne(label: string): boolean {
  return label.includes(',')
}

function labelLeft(name: string, context: GitLabErrorContext): string {
  return `GitLab did not add the label ${redactedName(name, context.secrets)}; have it created in the project, or give the token the right to create labels.`
}

function unknownPerson(name: string, context: GitLabErrorContext): string {
  return `GitLab does not know the user ${redactedName(name, context.secrets)}; check the spelling of the user name.`
}

function personLeft(name: string, context: GitLabErrorContext): string {
  return `GitLab did not add ${redactedName(name, context.secrets)}; check whether this user may read the project, and whether this GitLab allows more than one (its free tier does not).`
}

/** GitLab does not distinguish upper and lower case in user names. */
function lower(text: unknown): string {
  return typeof text === 'string' ? text.toLowerCase() : ''
}
