import { isSerialNumber, type ApiAnswer } from '../api-answer.ts'
import { branchMissing, moved, nothingToMerge, notUnderstood } from '../api-failure.ts'
import type { ApiLogin } from '../../domain/credentials/login.ts'
import type { Failure } from '../../domain/failure.ts'
import { member, textMember } from '../../domain/json-value.ts'
import type { Branches, Endpoint } from '../../domain/pull-request/pull-requests.ts'
import { listIn } from './pull-request.ts'
import type { GitLabErrorContext } from './pull-request.ts'
import { answerFrom, connectClient } from './client.ts'
import type { Client } from './client.ts'
import { gitlabFailure, lacksProject, projectFailure, saysForbiddenOnly, saysMoved } from './errors.ts'

/** A call of the client about the project `at`: its path, or its ID if it was renamed. */
export type Question = (at: string) => Promise<unknown>

/** One project on GitLab, and the functions that call its API. A renamed project is called by its ID from then on. */
export interface Project {
  readonly client: Client
  readonly context: GitLabErrorContext
  /**
   * Calls once, and once more if the project turns out to be renamed. Returns the answer for any status.
   * @throws Failure RepositoryNotFound if it has moved to an address that cannot be followed, ReferenceForbidden if the
   * new path is not permitted
   */
  readonly ask: (question: Question) => Promise<ApiAnswer>
  /** The same, but returns an answer with a 2xx status only. @throws Failure for any other status */
  readonly askForSuccess: (question: Question) => Promise<ApiAnswer>
  /** The project's ID. */
  readonly number: () => Promise<number>
  /** Returns an answer with a 2xx status. @throws Failure for any other status */
  readonly requireSuccess: (answer: ApiAnswer) => Promise<ApiAnswer>
}

/** The project of `endpoint`. Sends no request yet. */
export function projectAt(endpoint: Endpoint, login: ApiLogin): Project {
  const { baseURL, shown } = endpoint
  const client = connectClient(endpoint, login)
  const path = endpoint.repository.join('/')
  const context: GitLabErrorContext = { shown, baseURL, secrets: [...login.secrets, login.secret] }
  let at = path
  return {
    client,
    context,
    ask,
    askForSuccess,
    number,
    requireSuccess,
  }

  async function askForSuccess(question: Question): Promise<ApiAnswer> {
    return requireSuccess(await ask(question))
  }

  async function number(): Promise<number> {
    const answer = await askForSuccess((at) => client.projects.show(at))
    const id = member(answer.data, 'id')
    if (!isSerialNumber(id)) throw notUnderstood(answer, context)
    return id
  }

  async function ask(question: Question): Promise<ApiAnswer> {
    const answer = await answerFrom(question(at))
    if (!isElsewhere(answer)) return answer
    const id = at === path ? numberIn(await redirectOf(answer), baseURL) : undefined
    if (id === undefined) throw moved(context)
    await requirePermitted(id)
    at = id
    return answerFrom(question(at))
  }

  /** GitLab redirects only a GET of a renamed project. */
  async function redirectOf(answer: ApiAnswer): Promise<ApiAnswer> {
    return saysMoved(answer) ? answerFrom(client.projects.show(path)) : answer
  }

  async function requirePermitted(id: string): Promise<void> {
    const answer = await requireSuccess(await answerFrom(client.projects.show(id)))
    const present = textMember(answer.data, 'path_with_namespace')
    if (String(member(answer.data, 'id')) !== id || present === undefined)
      throw notUnderstood(answer, context)
    endpoint.permit(present.split('/'))
  }

  async function requireSuccess(answer: ApiAnswer): Promise<ApiAnswer> {
    if (answer.status >= 200 && answer.status < 300) return answer
    throw (await closerLook(answer)) ?? gitlabFailure(answer, context)
  }

  /** A cause that only another request can show; undefined: there is none. */
  async function closerLook(answer: ApiAnswer): Promise<Failure | undefined> {
    if (!saysForbiddenOnly(answer)) return undefined
    const { data } = await answerFrom(client.projects.show(at))
    return projectFailure(data, context)
  }
}

function isElsewhere(answer: ApiAnswer): boolean {
  return (answer.status >= 300 && answer.status < 400) || saysMoved(answer)
}

/** The project's ID in the address that GitLab redirects to; nothing else of that address is used. */
function numberIn({ headers }: ApiAnswer, baseURL: string): string | undefined {
  const { origin, pathname } = URL.parse(headers.get('location') ?? '', baseURL) ?? {}
  const start = `${new URL(baseURL).pathname}/projects/`
  if (origin !== new URL(baseURL).origin || pathname?.startsWith(start) !== true) return undefined
  return /^([1-9]\d{0,15})(?:\/|$)/.exec(pathname.slice(start.length))?.[1]
}

/**
 * Checks that the head has commits that the base does not have: GitLab opens a merge request for any two branches.
 * Requests one commit, not the comparison, whose diff may exceed the limit of an answer.
 * @throws Failure HeadNotFound, NothingToMerge, and those of `askForSuccess`
 */
export async function lookForCommits(project: Project, branches: Branches): Promise<void> {
  const { client, context, ask, requireSuccess } = project
  // With the full ref names, because a tag may have the name of a branch.
  const refName = `refs/heads/${branches.base}..refs/heads/${branches.head}`
  const answer = await ask((at) => client.commits.all(at, { refName, perPage: 1, page: 1 }))
  if (!isMissing(answer) && listIn(await requireSuccess(answer), context).length > 0) return
  // A range with a missing end is empty as well: GitLab does not forward git's error.
  for (const which of ['head', 'base'] as const) {
    const branch = await ask((at) => client.branches.show(at, branches[which]))
    if (isMissing(branch)) throw branchMissing(which, branches, context.shown)
    await requireSuccess(branch)
  }
  throw nothingToMerge(branches, context.shown)
}

/** Whether the requested object is missing in a project that exists. */
export function isMissing(answer: ApiAnswer): boolean {
  return answer.status === 404 && !lacksProject(answer)
}
