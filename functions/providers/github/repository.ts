import type { ApiAnswer } from '../api-answer.ts'
import { notUnderstood, moved } from '../api-failure.ts'
import type { ApiLogin } from '../../domain/credentials/login.ts'
import { member, textMember } from '../../domain/json-value.ts'
import type { Endpoint } from '../../domain/pull-request/pull-requests.ts'
import { githubFailure } from './errors.ts'
import type { GitHubErrorContext } from './errors.ts'
import { shrinkingPages } from '../shrinking-pages.ts'
import { openOctokit } from './octokit.ts'

/** The current name of a repository. */
export interface Home {
  readonly owner: string
  readonly name: string
}

/** A request about a repository. */
export interface Question {
  readonly method: 'GET' | 'POST' | 'PATCH'
  /** Below the repository, as a template (RFC 6570): /pulls/{number}. */
  readonly path: string
  /** Values for the path; the others go into the query, or into the body. */
  readonly parameters?: Readonly<Record<string, unknown>>
}

/** A repository at GitHub's API. A renamed repository is called by its ID from then on. */
export interface Repository {
  readonly context: GitHubErrorContext
  readonly home: () => Home
  /**
   * Calls once, and once more if the repository turns out to be renamed. Returns the answer for any status. `isPage` as in
   * FetchInit.
   * @throws Failure those of the network; RepositoryNotFound if it has moved to an address that cannot be followed;
   * ReferenceForbidden if the new name is not permitted
   */
  ask(question: (home: Home) => Question, isPage?: boolean): Promise<ApiAnswer>
  /**
   * The pages of a list, one at a time, each an array of 30 elements at most, and 10 pages at most.
   * @throws Failure those of `ask`, and that for an answer other than 200
   */
  pages(question: (home: Home) => Question): AsyncGenerator<ApiAnswer>
  /**
   * The values of a list that strangers fill, as `shrinkingPages` reads them; what is too large is left out.
   * @throws Failure those of `pages`
   */
  strangers(question: Question): AsyncGenerator
}

interface Location extends Home {
  /** Its ID at the API, which does not change with its name; undefined: it is called by its name. */
  readonly id: string | undefined
}

/** A pull request has 20 KiB without its body: with the longest bodies, no more fit into the limit of an answer. */
const PER_PAGE = 30
const MOST_PAGES = 10
/** Five of the longest reviews, of 64 KiB in any characters, fit into the limit of a page. */
const STRANGERS_SIZES = [PER_PAGE, 5, 1]
const REDIRECTS = [301, 302, 307, 308]
const FULL_NAME = /^([\w.-]+)\/([\w.-]+)$/

/** Opens the repository of `endpoint`. Sends no request yet. */
export function openRepository(endpoint: Endpoint, login: ApiLogin): Repository {
  const context = { shown: endpoint.shown, secrets: login.secrets, baseURL: endpoint.baseURL }
  const call = callBy(endpoint, login)
  const [owner = '', name = ''] = endpoint.repository
  let location: Location = { owner, name, id: undefined }
  const repository: Repository = {
    context,
    home: () => location,
    async ask(question, isPage = false) {
      const answer = await call(location, question(location), isPage)
      if (!REDIRECTS.includes(answer.status)) return answer
      const id = location.id === undefined ? numberIn(answer, endpoint.baseURL) : undefined
      if (id === undefined) throw moved(context)
      location = await locationOf(id)
      return call(location, question(location), isPage)
    },
    async *pages(question) {
      for (let page = 1; page <= MOST_PAGES; page += 1) {
        const answer = await repository.ask((home) => pageOf(question(home), page, PER_PAGE))
        valuesIn(answer, PER_PAGE)
        yield answer
        if (!hasNext(answer)) return
      }
    },
    async *strangers(question) {
      const pages = shrinkingPages({ sizes: STRANGERS_SIZES, most: MOST_PAGES }, async ({ page, size }) => {
        const answer = await repository.ask(() => pageOf(question, page, size), true)
        return { values: valuesIn(answer, size), isLast: !hasNext(answer) }
      })
      for await (const page of pages) if (page !== 'too large') yield* page.values
    },
  }
  return repository

  function valuesIn(answer: ApiAnswer, most: number): readonly unknown[] {
    if (answer.status !== 200) throw githubFailure(answer, context)
    const { data } = answer
    if (!Array.isArray(data) || data.length > most) throw notUnderstood(answer, context)
    return data
  }

  async function locationOf(id: string): Promise<Location> {
    const answer = await call({ owner, name, id }, { method: 'GET', path: '' })
    if (answer.status !== 200) throw githubFailure(answer, context)
    const [, itsOwner, itsName] = FULL_NAME.exec(textMember(answer.data, 'full_name') ?? '') ?? []
    const same = String(member(answer.data, 'id')) === id
    if (!same || itsOwner === undefined || itsName === undefined) throw notUnderstood(answer, context)
    endpoint.permit([itsOwner, itsName])
    return { owner: itsOwner, name: itsName, id }
  }
}

/** Whether there are more pages after this one. */
export function hasNext({ headers }: ApiAnswer): boolean {
  return headers.get('link')?.includes('rel="next"') === true
}

// Counts the pages itself instead of calling an address that the host names.
function pageOf(question: Question, page: number, size: number): Question {
  const more = page === 1 ? {} : { page }
  return { ...question, parameters: { ...question.parameters, per_page: size, ...more } }
}

/** GitHub redirects a request with an old name to the address with the ID: BASE/repositories/ID/... */
function numberIn({ headers }: ApiAnswer, baseURL: string): string | undefined {
  const location = URL.parse(headers.get('location') ?? '')
  const base = new URL(baseURL)
  if (location === null || location.origin !== base.origin) return undefined
  const start = `${base.pathname.replace(/\/$/, '')}/repositories/`
  if (!location.pathname.startsWith(start)) return undefined
  return /^([1-9]\d{0,15})(?:\/|$)/.exec(location.pathname.slice(start.length))?.[1]
}

type Call = (location: Location, question: Question, isPage?: boolean) => Promise<ApiAnswer>

function callBy(endpoint: Endpoint, login: ApiLogin): Call {
  const ask = openOctokit(endpoint, { auth: login.secret })
  return function call({ owner, name, id }, { method, path, parameters }, isPage = false) {
    const [root, at] =
      id === undefined ? ['/repos/{owner}/{repo}', { owner, repo: name }] : ['/repositories/{id}', { id }]
    return ask(`${method} ${root}${path}`, { ...parameters, ...at }, { isPage })
  }
}
