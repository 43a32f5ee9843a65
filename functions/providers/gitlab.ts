import { notUnderstood } from '../domain/api-failure.ts'
import type { ApiLogin } from '../domain/api-login.ts'
import { Failure } from '../domain/failure.ts'
import type {
  Branches,
  Endpoint,
  PullRequestDraft,
  PullRequests,
  PullRequestText,
  ShownPullRequest,
} from '../domain/pull-requests.ts'
import { joins, listIn, numbered, shownIn } from './gitlab-answers.ts'
import type { Shown } from './gitlab-answers.ts'
import { addDetail, edit } from './gitlab-details.ts'
import { branchFailure, saysExists } from './gitlab-failures.ts'
import { isMissing, lookForCommits, projectAt } from './gitlab-project.ts'
import { draftTitle, titleLike, withoutQuickActions } from './gitlab-text.ts'

/** With bodies of 128 KiB each no more fit into an answer that is read; GitLab takes longer ones, which nobody writes. */
const PER_PAGE = 30
const MOST_PAGES = 10

/** GitLab's merge requests, on gitlab.com and on installations of one's own. */
export default function connect(endpoint: Endpoint, login: ApiLogin): PullRequests {
  const project = projectAt(endpoint, login)
  const { client, speaker, ask, asked, accepted } = project
  const { mergeRequests } = client
  return {
    find,
    read,
    create,
    update,
    add: (number, detail, names) => addDetail(project, number, { detail, names }),
  }

  async function find(branches: Branches, among: 'open' | 'all'): Promise<readonly ShownPullRequest[]> {
    const found: Shown[] = []
    for (let page = 1; page <= MOST_PAGES; page += 1) {
      const listed = await pageOf(page, branches, among)
      found.push(...listed.filter((one) => joins(one, branches)))
      if (listed.length < PER_PAGE) break
    }
    return found
  }

  async function pageOf(page: number, { base, head }: Branches, among: 'open' | 'all'): Promise<Shown[]> {
    const answer = await asked((at) =>
      mergeRequests.all({
        projectId: at,
        ...(among === 'open' ? { state: 'opened' } : {}),
        sourceBranch: head,
        targetBranch: base,
        orderBy: 'created_at',
        sort: 'desc',
        perPage: PER_PAGE,
        page,
      }),
    )
    const listed = listIn(answer, speaker)
    if (listed.length > PER_PAGE) throw notUnderstood(answer, speaker)
    return listed.map((one) => shownIn(one, answer, speaker))
  }

  async function read(number: number, branches: Branches): Promise<ShownPullRequest | undefined> {
    const answer = await ask((at) => mergeRequests.show(at, number))
    if (isMissing(answer)) return undefined
    const found = numbered(number, await accepted(answer), speaker)
    return joins(found, branches) ? found : undefined
  }

  async function create(wanted: PullRequestDraft): Promise<ShownPullRequest | 'exists'> {
    const { branches, draft, title, body } = wanted
    if (branches.headOwner !== undefined) throw forkUnsupported(endpoint)
    await lookForCommits(project, branches)
    const written = draft ? draftTitle(title) : title
    const text = { description: withoutQuickActions(body) }
    const { base, head } = branches
    const answer = await ask((at) => mergeRequests.create(at, head, base, written, text))
    if (saysExists(answer)) return 'exists'
    const missing = branchFailure(answer, branches, endpoint.shown)
    if (missing !== undefined) throw missing
    const created = shownIn((await accepted(answer)).data, answer, speaker)
    if (answer.status === 201 && joins(created, branches)) return created
    throw notUnderstood(answer, speaker)
  }

  async function update({ number, title }: ShownPullRequest, text: PullRequestText): Promise<void> {
    const written = { title: titleLike(title, text.title), description: withoutQuickActions(text.body) }
    await edit(project, number, written)
  }
}

function forkUnsupported({ shown }: Endpoint): Failure {
  const message = `Pull requests of ${shown} from a fork are not supported on GitLab yet; push the branch to the repository itself.`
  return new Failure('NotSupported', message)
}
