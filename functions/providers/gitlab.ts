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
import { joins, listIn, objectIn, shownIn } from './gitlab-answers.ts'
import type { Shown } from './gitlab-answers.ts'
import { answerFrom } from './gitlab-client.ts'
import { addDetail, edit } from './gitlab-details.ts'
import { branchFailure, saysExists } from './gitlab-failures.ts'
import { isMissing, lookForCommits, projectAt } from './gitlab-project.ts'
import { draftTitle, titleLike, withoutQuickActions } from './gitlab-text.ts'

const PER_PAGE = 50
const MOST_PAGES = 10

/** GitLab's merge requests, on gitlab.com and on installations of one's own. */
export default function connect(endpoint: Endpoint, login: ApiLogin): PullRequests {
  const project = projectAt(endpoint, login)
  const { client, path, speaker, asked, accepted } = project
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
      found.push(...listed)
      if (listed.length < PER_PAGE) break
    }
    return found.filter((one) => joins(one, branches))
  }

  async function pageOf(page: number, { base, head }: Branches, among: 'open' | 'all'): Promise<Shown[]> {
    const answer = await asked(
      mergeRequests.all({
        projectId: path,
        ...(among === 'open' ? { state: 'opened' } : {}),
        sourceBranch: head,
        targetBranch: base,
        orderBy: 'created_at',
        sort: 'desc',
        perPage: PER_PAGE,
        page,
      }),
    )
    return listIn(answer, speaker).map((one) => shownIn(one, answer, speaker))
  }

  async function read(number: number, branches: Branches): Promise<ShownPullRequest | undefined> {
    const answer = await answerFrom(mergeRequests.show(path, number))
    if (isMissing(answer)) return undefined
    const found = shownIn(objectIn(await accepted(answer), speaker), answer, speaker)
    return joins(found, branches) ? found : undefined
  }

  async function create(wanted: PullRequestDraft): Promise<ShownPullRequest | 'exists'> {
    const { branches, draft, title, body } = wanted
    if (branches.headOwner !== undefined) throw forkUnsupported(endpoint)
    await lookForCommits(project, branches)
    const written = draft ? draftTitle(title) : title
    const text = { description: withoutQuickActions(body) }
    const answer = await answerFrom(mergeRequests.create(path, branches.head, branches.base, written, text))
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
