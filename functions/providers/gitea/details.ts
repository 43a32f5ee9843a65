import type { ApiAnswer } from '../api-answer.ts'
import { elements, member, textMember } from '../../domain/json-value.ts'
import type { Addition } from '../../domain/pull-request/pull-requests.ts'
import { redactedName } from '../../domain/redact.ts'
import { complaintsAbout, MOST_NAMED } from '../complaints.ts'
import { loginsIn } from './pull-request.ts'
import { giteaFailure, refusesPeople, wordsIn } from './errors.ts'
import { numbered, pagesOf } from './repository.ts'
import type { Repository } from './repository.ts'

/** Implements `add` of the port. Reviews of teams are not supported. */
export async function addDetails(repository: Repository, addition: Addition): Promise<readonly string[]> {
  const { number, detail, names } = addition
  if (detail === 'labels') return addLabels(repository, number, names)
  const add = detail === 'reviewers' ? addReviewers : addAssignees
  return add(repository, number, names)
}

/** Gitea ignores unknown names, and answers with all labels of the pull request. */
async function addLabels(
  { ask, context }: Repository,
  number: number,
  names: readonly string[],
): Promise<readonly string[]> {
  const answer = await ask('POST', `/issues/${number}/labels`, { labels: names })
  if (answer.status !== 200 || !Array.isArray(answer.data)) throw giteaFailure(answer, context)
  const there = elements(answer.data).map((label) => textMember(label, 'name')?.toLowerCase())
  return complaintsAbout(
    names.filter((name) => !there.includes(name.toLowerCase())),
    (name) =>
      `Gitea has no label ${redactedName(name, context.secrets)} for this repository; have it created there.`,
  )
}

/** Throws ProviderUnavailable if the answer is not this pull request. */
async function readPull(
  repository: Repository,
  number: number,
): Promise<{ readonly path: string; readonly shown: unknown }> {
  const path = `/pulls/${number}`
  const answer = await repository.ask('GET', path)
  numbered(number, answer, repository)
  return { path, shown: answer.data }
}

async function addReviewers(
  repository: Repository,
  number: number,
  names: readonly string[],
): Promise<readonly string[]> {
  const { ask, context } = repository
  const { path, shown } = await readPull(repository, number)
  const requested = [...loginsIn(member(shown, 'requested_reviewers'))]
  // Users who have given a review are no longer in that list.
  for await (const page of pagesOf(repository, `${path}/reviews`, {}))
    if (page !== 'too large') requested.push(...loginsIn(page.values.map((review) => member(review, 'user'))))
  const { complaints } = await oneByOne(without(names, requested), {
    async add(some) {
      const answer = await ask('POST', `${path}/requested_reviewers`, { reviewers: some })
      if (refusesPeople(answer)) return answer
      if (answer.status !== 201 || typeof answer.data === 'string') throw giteaFailure(answer, context)
      return undefined
    },
    refused: (name, answer) =>
      `Gitea does not accept ${redactedName(name, context.secrets)} as a reviewer${wordsIn(answer, context)}; name a user who may read the repository and has not opened the pull request.`,
  })
  return complaints
}

async function addAssignees(
  repository: Repository,
  number: number,
  names: readonly string[],
): Promise<readonly string[]> {
  const { ask, context, pass } = repository
  const { path, shown } = await readPull(repository, number)
  let there = loginsIn(member(shown, 'assignees'))
  const missing = without(names, there)
  const { complaints, added } = await oneByOne(missing, {
    async add(some) {
      // A PATCH replaces all of them.
      const answer = await ask('PATCH', path, { assignees: [...there, ...some] })
      // Gitea answers 500 for a user who exists but may not be assigned (services/issue/assignee.go).
      if (refusesPeople(answer) || answer.status === 500) return answer
      numbered(number, answer, repository)
      there = loginsIn(member(answer.data, 'assignees'))
      return undefined
    },
    async between() {
      // While others called, somebody else may have been assigned.
      if (await pass()) there = loginsIn(member((await readPull(repository, number)).shown, 'assignees'))
    },
    refused: (name, answer) => notAssigned(name, wordsIn(answer, context)),
  })
  return [...complaints, ...complaintsAbout(without(added, there), (name) => notAssigned(name, ''))]

  function notAssigned(name: string, words: string): string {
    return `Gitea does not assign ${redactedName(name, context.secrets)}${words}; name a user who may write to the repository, and use a token of a user who also may.`
  }
}

interface OneByOne {
  /** Returns the answer if it is a refusal. */
  readonly add: (some: readonly string[]) => Promise<ApiAnswer | undefined>
  /** Done before each name that is tried by itself after all together. */
  readonly between?: () => Promise<void>
  /** The sentence about a refused name, made when its answer comes: all at the end would take long. */
  readonly refused: (name: string, answer: ApiAnswer) => string
}

interface Added {
  readonly complaints: readonly string[]
  /** Those that were not refused, as Gitea says. */
  readonly added: readonly string[]
}

/**
 * All at once, and if that is refused, one after the other, because Gitea does not always report which name it refuses;
 * after ten that were refused the others are not tried: each costs a request.
 */
async function oneByOne(names: readonly string[], { add, between, refused }: OneByOne): Promise<Added> {
  const all = names.length === 0 ? undefined : await add(names)
  if (all === undefined) return { complaints: [], added: names }
  const complaints: string[] = []
  const added: string[] = []
  for (const [index, name] of names.entries()) {
    if (complaints.length >= MOST_NAMED)
      return { complaints: [...complaints, notTried(names.length - index)], added }
    if (names.length > 1) await between?.()
    const answer = names.length === 1 ? all : await add([name])
    if (answer === undefined) added.push(name)
    else complaints.push(refused(name, answer))
  }
  return { complaints, added }
}

function notTried(count: number): string {
  return `Gitea refused ${MOST_NAMED} names, so ${count} more were not tried; remove those that it refused.`
}

function without(names: readonly string[], there: readonly string[]): readonly string[] {
  return names.filter((name) => !there.includes(name.toLowerCase()))
}
