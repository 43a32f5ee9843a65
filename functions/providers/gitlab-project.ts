import { branchMissing, moved, nothingToMerge } from '../domain/api-failure.ts'
import type { ApiAnswer } from '../domain/api-failure.ts'
import type { ApiLogin } from '../domain/api-login.ts'
import type { Failure } from '../domain/failure.ts'
import { textMember } from '../domain/member.ts'
import type { Branches, Endpoint } from '../domain/pull-requests.ts'
import { listIn } from './gitlab-answers.ts'
import type { Speaker } from './gitlab-answers.ts'
import { answerFrom, connectClient } from './gitlab-client.ts'
import type { Client } from './gitlab-client.ts'
import {
  gitlabFailure,
  lacksProject,
  projectFailure,
  saysForbiddenOnly,
  saysMoved,
} from './gitlab-failures.ts'

/** One project of GitLab's, and how its answers are taken. */
export interface Project {
  readonly client: Client
  /** With its groups, such as acme/team/shop: GitLab takes it instead of a number. */
  readonly path: string
  readonly speaker: Speaker
  /** Answers where the status is 2xx. @throws Failure for every other one */
  readonly asked: (call: Promise<unknown>) => Promise<ApiAnswer>
  /** The same for what was answered already. */
  readonly accepted: (answer: ApiAnswer) => Promise<ApiAnswer>
}

/** The project that `endpoint` is about. Nothing is asked yet. */
export function projectAt(endpoint: Endpoint, login: ApiLogin): Project {
  const { baseURL, shown } = endpoint
  const client = connectClient(endpoint, login)
  const path = endpoint.repository.join('/')
  const speaker: Speaker = { shown, baseURL, secrets: [...login.secrets, login.secret] }
  return { client, path, speaker, asked: async (call) => accepted(await answerFrom(call)), accepted }

  async function accepted(answer: ApiAnswer): Promise<ApiAnswer> {
    if (answer.status >= 200 && answer.status < 300) return answer
    throw (await closerLook(answer)) ?? gitlabFailure(answer, speaker)
  }

  /** What only another request can tell; undefined: nothing. */
  async function closerLook(answer: ApiAnswer): Promise<Failure | undefined> {
    const toGet = answer.status === 405 && saysMoved(answer)
    if (toGet || saysForbiddenOnly(answer)) {
      const { headers, data } = await answerFrom(client.projects.show(path))
      return toGet ? movedTo(headers) : projectFailure(data, speaker)
    }
    return answer.status === 301 ? movedTo(answer.headers) : undefined
  }

  /** GitLab leads to the same by the project's number, which is all that is taken of the address. */
  async function movedTo(headers: ApiAnswer['headers']): Promise<Failure> {
    const place = URL.parse(headers.get('location') ?? '', baseURL)
    const [, id] = /\/api\/v4\/projects\/(\d{1,18})(?:\/|$)/.exec(place?.pathname ?? '') ?? []
    if (id === undefined || place?.origin !== new URL(baseURL).origin) return moved(speaker)
    const { data } = await answerFrom(client.projects.show(id))
    return moved(speaker, textMember(data, 'path_with_namespace'))
  }
}

/**
 * Looks for commits of the head that the base does not have: GitLab opens a merge request for any two branches. One
 * commit is asked for, not the comparison, whose differences may be larger than any answer may be.
 * @throws Failure HeadNotFound, NothingToMerge, and those of `asked`
 */
export async function lookForCommits(project: Project, branches: Branches): Promise<void> {
  const { client, path, speaker, accepted } = project
  // A tag may have the name of a branch.
  const refName = `refs/heads/${branches.base}..refs/heads/${branches.head}`
  const answer = await answerFrom(client.commits.all(path, { refName, perPage: 1, page: 1 }))
  if (!isMissing(answer) && listIn(await accepted(answer), speaker).length > 0) return
  // A range of which one end is missing is empty as well: GitLab does not hand the error of git on.
  for (const which of ['head', 'base'] as const) {
    const branch = await answerFrom(client.branches.show(path, branches[which]))
    if (isMissing(branch)) throw branchMissing(which, branches, speaker.shown)
    await accepted(branch)
  }
  throw nothingToMerge(branches, speaker.shown)
}

/** Is what was asked for missing from the project, which is there itself? */
export function isMissing(answer: ApiAnswer): boolean {
  return answer.status === 404 && !lacksProject(answer)
}
