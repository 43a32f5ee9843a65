import { elements } from '../../domain/json-value.ts'
import type { Addition } from '../../domain/pull-request/pull-requests.ts'
import { redact } from '../../domain/redact.ts'
import { MOST_NAMED } from '../complaints.ts'
import { reviewerNamed, reviewersIn, writtenOf } from './pull-request.ts'
import { numbered, write } from './repository.ts'
import type { Repository } from './repository.ts'

/** Implements `add` of the port. Bitbucket has neither labels nor assignees. */
export async function addDetails(repository: Repository, addition: Addition): Promise<readonly string[]> {
  const { number, detail, names } = addition
  if (detail !== 'reviewers') return [lacking(addition, repository)]
  const shown = await read(repository, number)
  const there = reviewersIn(shown)
  const missing = names.filter((name) => !there.has(name.toLowerCase()))
  return addReviewers(repository, { number, shown }, missing)
}

interface Read {
  readonly number: number
  readonly shown: unknown
}

/** Throws the Failure for an answer that does not show it. */
async function read(repository: Repository, number: number): Promise<unknown> {
  const answer = await repository.ask('GET', `${repository.pullRequestsURL}/${number}`)
  numbered(number, answer, repository)
  return answer.data
}

/**
 * Bitbucket accepts all of them or none, and does not name those it refuses: splits the list until each is known. After ten
 * that were refused the others are not tried: each costs a request, and its words are masked.
 */
async function addReviewers(
  repository: Repository,
  { number, shown }: Read,
  names: readonly string[],
): Promise<readonly string[]> {
  // The pull request as the content of a PUT.
  let written = writtenOf(shown)
  let there = elements(written.reviewers)
  const complaints: string[] = []
  let untried = 0
  await addAll(names)
  return untried === 0 ? complaints : [...complaints, notTried(untried)]

  async function addHalf(some: readonly string[]): Promise<void> {
    // None is tried after so many.
    const mayHaveWaited = complaints.length < MOST_NAMED && (await repository.pass())
    if (mayHaveWaited) {
      // While others called, it may have been changed.
      written = writtenOf(await read(repository, number))
      there = elements(written.reviewers)
    }
    await addAll(some)
  }

  async function addAll(some: readonly string[]): Promise<void> {
    if (some.length === 0) return
    if (complaints.length >= MOST_NAMED) {
      untried += some.length
      return
    }
    const reviewers = [...there, ...some.map(reviewerNamed)]
    const refused = await write(repository, number, { ...written, reviewers })
    if (refused === undefined) {
      there = reviewers
      return
    }
    if (some.length === 1) {
      complaints.push(...some.map((name) => notTaken(name, refused, repository)))
      return
    }
    const half = Math.ceil(some.length / 2)
    await addHalf(some.slice(0, half))
    await addHalf(some.slice(half))
  }
}

function notTried(count: number): string {
  return `Bitbucket refused ${MOST_NAMED} names, so ${count} more were not tried; remove those that it refused.`
}

function lacking({ detail, names }: Addition, repository: Repository): string {
  const first = names.slice(0, MOST_NAMED).map((name) => shown(name, repository))
  const others = names.length - first.length
  const all = [...first, ...(others > 0 ? [`and ${others} more`] : [])].join(', ')
  return `Bitbucket has no ${detail} of pull requests, so ${all} could not be added; remove spec.${detail}.`
}

function notTaken(name: string, words: string, repository: Repository): string {
  const quoted = redact(words, repository.context.secrets) ?? ''
  return `Bitbucket does not accept ${shown(name, repository)} as a reviewer ("${quoted}"); name an active member of the workspace other than the author.`
}

function shown(name: string, { context }: Repository): string {
  return redact(name, context.secrets) ?? '***'
}
