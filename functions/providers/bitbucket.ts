import { notUnderstood } from '../domain/api-failure.ts'
import type { ApiAnswer, ApiSpeech } from '../domain/api-failure.ts'
import type { ApiLogin } from '../domain/api-login.ts'
import { elements, member, textMember } from '../domain/member.ts'
import type { Branches, Endpoint, PullRequests, ShownPullRequest } from '../domain/pull-requests.ts'
import { quoteRemote } from '../domain/quote.ts'
import { isReviewer, joins, reviewerNamed, shownOf, writtenOf } from './bitbucket-answers.ts'
import { bitbucketFailure, creationFailure, reviewersRefused, staleReviewers } from './bitbucket-failures.ts'

/** Most that are read of a list, newest first. */
const PAGES = 10
/** Each shows its body in five places: of the longest bodies no more fit into an answer that is read. */
const PAGE_LENGTH = 20

/**
 * Pull requests on Bitbucket Cloud (REST API 2.0). An open one of the same branches is silently changed by what would
 * create another, so that nothing is ever answered as existing: whoever creates has to have looked before.
 */
export default function connect(endpoint: Endpoint, login: ApiLogin): PullRequests {
  const { baseURL, shown } = endpoint
  const pair = `${login.username ?? ''}:${login.secret}`
  const speech: ApiSpeech = { shown, secrets: [...login.secrets, login.secret, pair] }
  // Bitbucket writes its slugs, and its UUIDs in braces, in small letters.
  const segments = endpoint.repository.map((segment) => encodeURIComponent(segment.toLowerCase()))
  const place = `${baseURL}/repositories/${segments.join('/')}/pullrequests`
  const headers = {
    accept: 'application/json',
    authorization:
      login.username === undefined
        ? `Bearer ${login.secret}`
        : `Basic ${Buffer.from(pair).toString('base64')}`,
  }

  return {
    async find(branches, among) {
      const found: ShownPullRequest[] = []
      let next: string | undefined = `${place}?${listQuery(branches)}`
      for (let page = 0; next !== undefined && page < PAGES; page += 1) {
        const answer = await ask('GET', next)
        found.push(...listed(answer, branches))
        // At most one of the same branches is open, and it is the newest of them.
        if (among === 'open' && found.length > 0) break
        next = nextPage(answer)
      }
      return found.filter(({ state }) => among === 'all' || state === 'open')
    },

    async read(number, branches) {
      const answer = await ask('GET', `${place}/${number}`)
      if (answer.status === 404) return undefined
      const pull = understood(answer)
      return joins(answer.data, branches) ? pull : undefined
    },

    async create({ title, body, branches, draft }) {
      const [source, destination] = [branches.head, branches.base].map((name) => ({ branch: { name } }))
      const answer = await ask('POST', place, { title, description: body, source, destination, draft })
      if (answer.status !== 201) throw creationFailure(answer, branches, speech)
      const created = shownOf(answer.data, baseURL)
      if (created === undefined || !joins(answer.data, branches)) throw notUnderstood(answer, speech)
      return created
    },

    async update({ number }, { title, body }) {
      const answer = await ask('GET', `${place}/${number}`)
      understood(answer)
      const refused = await write(number, { ...writtenOf(answer.data), title, description: body })
      if (refused !== undefined) throw staleReviewers(number, refused, speech)
    },

    async add(number, detail, names) {
      if (detail !== 'reviewers') return [lacking(detail, names)]
      const answer = await ask('GET', `${place}/${number}`)
      understood(answer)
      return addReviewers(
        number,
        answer.data,
        names.filter((name) => !isReviewer(answer.data, name)),
      )
    },
  }

  /** Bitbucket takes all of them or none, and names nobody: what it refuses is halved until each is known. */
  async function addReviewers(
    number: number,
    pull: unknown,
    names: readonly string[],
  ): Promise<readonly string[]> {
    const written = writtenOf(pull)
    let there = elements(written.reviewers)
    return addAll(names)

    async function addAll(some: readonly string[]): Promise<readonly string[]> {
      if (some.length === 0) return []
      const reviewers = [...there, ...some.map(reviewerNamed)]
      const refused = await write(number, { ...written, reviewers })
      if (refused === undefined) {
        there = reviewers
        return []
      }
      if (some.length === 1) return some.map((name) => notTaken(name, refused))
      const half = Math.ceil(some.length / 2)
      return [...(await addAll(some.slice(0, half))), ...(await addAll(some.slice(half)))]
    }
  }

  /** Answers Bitbucket's words where it does not take the reviewers. */
  async function write(
    number: number,
    content: Readonly<Record<string, unknown>>,
  ): Promise<string | undefined> {
    const answer = await ask('PUT', `${place}/${number}`, content)
    const refused = reviewersRefused(answer)
    if (refused === undefined) understood(answer)
    return refused
  }

  async function ask(method: string, url: string, content?: unknown): Promise<ApiAnswer> {
    const written =
      content === undefined
        ? { headers }
        : { headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(content) }
    const response = await endpoint.fetch(url, { method, ...written })
    return {
      status: response.status,
      headers: response.headers,
      data: parsed(await response.text()),
    }
  }

  function understood(answer: ApiAnswer): ShownPullRequest {
    const pull = answer.status === 200 ? shownOf(answer.data, baseURL) : undefined
    if (pull === undefined) throw bitbucketFailure(answer, speech)
    return pull
  }

  function listed(answer: ApiAnswer, branches: Branches): readonly ShownPullRequest[] {
    const values = answer.status === 200 ? member(answer.data, 'values') : undefined
    if (!Array.isArray(values)) throw bitbucketFailure(answer, speech)
    return elements(values)
      .filter((pull) => joins(pull, branches))
      .map((pull) => {
        const read = shownOf(pull, baseURL)
        if (read === undefined) throw notUnderstood(answer, speech)
        return read
      })
  }

  function nextPage(answer: ApiAnswer): string | undefined {
    const next = textMember(answer.data, 'next')
    if (next === undefined) return undefined
    const url = URL.parse(next)
    // The credentials go with it.
    if (url === null || !`${url.origin}${url.pathname}`.startsWith(`${baseURL}/repositories/`))
      throw notUnderstood(answer, speech)
    return url.href
  }

  function notTaken(name: string, words: string): string {
    const said = quoteRemote(words, speech.secrets) ?? ''
    return `Bitbucket does not take ${name} as a reviewer ("${said}"); name an active member of the workspace other than the author.`
  }
}

/** Without a state in `q` those of every state are listed. */
function listQuery({ base, head }: Branches): string {
  const q = `source.branch.name = ${quoted(head)} AND destination.branch.name = ${quoted(base)}`
  return new URLSearchParams({ q, sort: '-created_on', pagelen: String(PAGE_LENGTH) }).toString()
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}

function lacking(detail: string, names: readonly string[]): string {
  return `Bitbucket has no ${detail} of pull requests, so ${names.join(', ')} could not be added; take them out of spec.${detail}.`
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
