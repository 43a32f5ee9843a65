import type { ApiAnswer } from '../api-answer.ts'
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

/** A call of the client's about the project `at`: its path, or its number where it was renamed. */
export type Question = (at: string) => Promise<unknown>

/** One project of GitLab's, and how its answers are taken. One that was renamed is asked by its number from then on. */
export interface Project {
  readonly client: Client
  readonly context: GitLabErrorContext
  /**
   * Asks once, and once more where the project turns out to be renamed. Answers whatever status comes.
   * @throws Failure RepositoryNotFound where it has moved to what cannot be followed, ReferenceForbidden where it may
   * not be
   */
  readonly ask: (question: Question) => Promise<ApiAnswer>
  /** Answers where the status is 2xx. @throws Failure for every other one */
  readonly asked: (question: Question) => Promise<ApiAnswer>
  /** The same for what was answered already. */
  readonly accepted: (answer: ApiAnswer) => Promise<ApiAnswer>
}

/** The project that `endpoint` is about. Nothing is asked yet. */
export function projectAt(endpoint: Endpoint, login: ApiLogin): Project {
  const { baseURL, shown } = endpoint
  const client = connectClient(endpoint, login)
  const path = endpoint.repository.join('/')
  const context: GitLabErrorContext = { shown, baseURL, secrets: [...login.secrets, login.secret] }
  let at = path
  return { client, context, ask, asked: async (question) => accepted(await ask(question)), accepted }

  async function ask(question: Question): Promise<ApiAnswer> {
    const answer = await answerFrom(question(at))
    if (!isElsewhere(answer)) return answer
    const id = at === path ? numberIn(await ledOn(answer), baseURL) : undefined
    if (id === undefined) throw moved(context)
    await requirePermitted(id)
    at = id
    return answerFrom(question(at))
  }

  /** Only a look at a project that was renamed is led on to it. */
  async function ledOn(answer: ApiAnswer): Promise<ApiAnswer> {
    return saysMoved(answer) ? answerFrom(client.projects.show(path)) : answer
  }

  async function requirePermitted(id: string): Promise<void> {
    const answer = await accepted(await answerFrom(client.projects.show(id)))
    const present = textMember(answer.data, 'path_with_namespace')
    if (String(member(answer.data, 'id')) !== id || present === undefined)
      throw notUnderstood(answer, context)
    endpoint.permit(present.split('/'))
  }

  async function accepted(answer: ApiAnswer): Promise<ApiAnswer> {
    if (answer.status >= 200 && answer.status < 300) return answer
    throw (await closerLook(answer)) ?? gitlabFailure(answer, context)
  }

  /** What only another request can tell; undefined: nothing. */
  async function closerLook(answer: ApiAnswer): Promise<Failure | undefined> {
    if (!saysForbiddenOnly(answer)) return undefined
    const { data } = await answerFrom(client.projects.show(at))
    return projectFailure(data, context)
  }
}

function isElsewhere(answer: ApiAnswer): boolean {
  return (answer.status >= 300 && answer.status < 400) || saysMoved(answer)
}

/** GitLab leads to the same by the project's number, which is all that is taken of the address. */
function numberIn({ headers }: ApiAnswer, baseURL: string): string | undefined {
  const { origin, pathname } = URL.parse(headers.get('location') ?? '', baseURL) ?? {}
  const start = `${new URL(baseURL).pathname}/projects/`
  if (origin !== new URL(baseURL).origin || pathname?.startsWith(start) !== true) return undefined
  return /^([1-9]\d{0,15})(?:\/|$)/.exec(pathname.slice(start.length))?.[1]
}

/**
 * Looks for commits of the head that the base does not have: GitLab opens a merge request for any two branches. One
 * commit is asked for, not the comparison, whose differences may be larger than any answer may be.
 * @throws Failure HeadNotFound, NothingToMerge, and those of `asked`
 */
export async function lookForCommits(project: Project, branches: Branches): Promise<void> {
  const { client, context, ask, accepted } = project
  // A tag may have the name of a branch.
  const refName = `refs/heads/${branches.base}..refs/heads/${branches.head}`
  const answer = await ask((at) => client.commits.all(at, { refName, perPage: 1, page: 1 }))
  if (!isMissing(answer) && listIn(await accepted(answer), context).length > 0) return
  // A range of which one end is missing is empty as well: GitLab does not hand the error of git on.
  for (const which of ['head', 'base'] as const) {
    const branch = await ask((at) => client.branches.show(at, branches[which]))
    if (isMissing(branch)) throw branchMissing(which, branches, context.shown)
    await accepted(branch)
  }
  throw nothingToMerge(branches, context.shown)
}

/** Is what was asked for missing from the project, which is there itself? */
export function isMissing(answer: ApiAnswer): boolean {
  return answer.status === 404 && !lacksProject(answer)
}
