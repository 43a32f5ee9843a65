import { notUnderstood, outOfSight } from '../api-failure.ts'
import type { ApiLogin } from '../../domain/credentials/login.ts'
import { Failure } from '../../domain/failure.ts'
import { keepAll } from '../../domain/pull-request/choice.ts'
import { isTooLarge } from '../../domain/pull-request/large-answer.ts'
import { draftTitle, titleLike } from '../../domain/pull-request/draft-title.ts'
import type {
  Branches,
  Endpoint,
  Keep,
  PullRequestDraft,
  PullRequests,
  PullRequestText,
  ShownPullRequest,
} from '../../domain/pull-request/pull-requests.ts'
import { DRAFT, joins, listIn, numbered, shownIn, withBody } from './pull-request.ts'
import type { Shown } from './pull-request.ts'
import { addDetail, edit } from './details.ts'
import { branchFailure, saysExists } from './errors.ts'
import { isMissing, lookForCommits, projectAt } from './repository.ts'
import { withoutQuickActions } from './quick-actions.ts'

/** Few enough that usual descriptions fit into the limit of an answer, and the longest as well unless they are escaped. */
const FIRST_LOOK = 3
/** Descriptions of 128 KiB each still fit; only users who may push here can exceed the limit with longer ones. */
const PER_PAGE = 20
/** After the first look. */
const MOST_PAGES = 9

/** Which merge requests are looked for. */
interface Sought {
  readonly branches: Branches
  readonly among: 'open' | 'all'
  readonly keep: Keep
}

/** A part of their list. */
interface Part {
  readonly page: number
  readonly perPage: number
  /** Excludes merge requests from forks. */
  readonly sourceProjectId?: number
}

/** GitLab's merge requests, on gitlab.com and on self-managed installations. */
export default function connect(endpoint: Endpoint, login: ApiLogin): PullRequests {
  const project = projectAt(endpoint, login)
  const { client, context, ask, askForSuccess, requireSuccess } = project
  const { mergeRequests } = client
  return {
    find,
    read,
    create,
    update,
    add: (number, detail, names) => addDetail(project, number, { detail, names }),
  }

  async function find(
    branches: Branches,
    among: 'open' | 'all',
    keep: Keep = keepAll,
  ): Promise<readonly ShownPullRequest[]> {
    const found = await list({ branches, among, keep })
    return found.map(withBody)
  }

  async function list(sought: Sought): Promise<readonly ShownPullRequest[]> {
    const first = await pageOf({ page: 1, perPage: FIRST_LOOK }, sought).catch(tooLargeAlone)
    if (first === 'too large') return findOwn(await project.number(), sought)
    const [any] = first
    if (any === undefined || first.length < FIRST_LOOK)
      return first.filter((one) => joins(one, sought.branches))
    return findOwn(any.project, sought)
  }

  /** Anyone may fork the project, and open any number of merge requests with the same branches. */
  async function findOwn(sourceProjectId: number, sought: Sought): Promise<readonly ShownPullRequest[]> {
    let found: readonly ShownPullRequest[] = []
    for (let page = 1; page <= MOST_PAGES; page += 1) {
      const listed = await pageOf({ page, perPage: PER_PAGE, sourceProjectId }, sought)
      found = sought.keep([...found, ...listed.filter((one) => joins(one, sought.branches))])
      if (listed.length < PER_PAGE) return found
    }
    if (found.length === 0) throw outOfSight(sought.branches, endpoint.shown)
    return found
  }

  async function pageOf(part: Part, { branches, among }: Sought): Promise<Shown[]> {
    const answer = await askForSuccess((at) =>
      mergeRequests.all({
        projectId: at,
        ...(among === 'open' ? { state: 'opened' } : {}),
        sourceBranch: branches.head,
        targetBranch: branches.base,
        orderBy: 'created_at',
        sort: 'desc',
        ...part,
      }),
    )
    const listed = listIn(answer, context)
    if (listed.length > part.perPage) throw notUnderstood(answer, context)
    return listed.map((one) => shownIn(one, answer, context))
  }

  async function read(number: number, branches: Branches): Promise<ShownPullRequest | undefined> {
    const answer = await ask((at) => mergeRequests.show(at, number))
    if (isMissing(answer)) return undefined
    const found = numbered(number, await requireSuccess(answer), context)
    return joins(found, branches) ? withBody(found) : undefined
  }

  async function create(wanted: PullRequestDraft): Promise<ShownPullRequest | 'exists'> {
    const { branches, draft, title, body } = wanted
    if (branches.headOwner !== undefined) throw forkUnsupported(endpoint)
    await lookForCommits(project, branches)
    const written = draft ? draftTitle(title, DRAFT) : title
    const text = { description: withoutQuickActions(body) }
    const { base, head } = branches
    const answer = await ask((at) => mergeRequests.create(at, head, base, written, text))
    if (saysExists(answer)) return 'exists'
    const missing = branchFailure(answer, branches, endpoint.shown)
    if (missing !== undefined) throw missing
    const created = shownIn((await requireSuccess(answer)).data, answer, context)
    if (answer.status === 201 && joins(created, branches)) return withBody(created)
    throw notUnderstood(answer, context)
  }

  async function update({ number, title }: ShownPullRequest, text: PullRequestText): Promise<void> {
    const written = {
      title: titleLike(title, text.title, DRAFT),
      description: withoutQuickActions(text.body),
    }
    await edit(project, number, written)
  }
}

function tooLargeAlone(error: unknown): 'too large' {
  if (isTooLarge(error)) return 'too large'
  throw error
}

function forkUnsupported({ shown }: Endpoint): Failure {
  const message = `Pull requests of ${shown} from a fork are not supported on GitLab yet; push the branch to the repository itself.`
  return new Failure('NotSupported', message)
}
