import type { ApiCommit, ApiCommitted } from '../../domain/commit/commit-by-api.ts'
import { asFailure, type Failure } from '../../domain/failure.ts'
import { elements, isRecord, member, textMember } from '../../domain/json-value.ts'
import { holdsSecret } from '../../domain/redact.ts'
import type { ApiAnswer } from '../api-answer.ts'
import { notUnderstood } from '../api-failure.ts'
import type { CommitPlace } from '../make-commit.ts'
import { commitBody } from './commit-body.ts'
import { isRace, refusedCommit, refusedRequest } from './commit-errors.ts'
import { openOctokit } from './octokit.ts'

const OBJECT_NAME = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/

/**
 * Makes the commit by the mutation createCommitOnBranch, whose commits GitHub signs. The author is the App or the user of
 * the token.
 * @throws Failure as MakeCommit says
 */
export async function makeCommit(place: CommitPlace, commit: ApiCommit): Promise<ApiCommitted> {
  const { shown, secrets, fetch, share, token } = place
  const baseURL = graphQLBase(place.baseURL)
  const ask = openOctokit({ baseURL, shown, fetch, share }, { auth: token })
  const body = commitBody(commit, place.repository)
  try {
    const answer = await ask('POST /graphql', {}, { body })
    return ended(answer, { shown, secrets, baseURL: place.baseURL })
  } catch (error) {
    return lost(asFailure(error))
  }
}

// https://docs.github.com/graphql: HOST/api/graphql on an Enterprise Server, else api.HOST/graphql.
function graphQLBase(baseURL: string): string {
  return baseURL.replace(/\/api\/v3$/, '/api')
}

function ended(answer: ApiAnswer, context: Parameters<typeof refusedCommit>[1]): ApiCommitted {
  const { status, data } = answer
  if (status !== 200) return unlessSaid(refusedRequest(answer, context))
  const made = member(member(data, 'data'), 'createCommitOnBranch')
  const sha = textMember(member(made, 'commit'), 'oid') ?? ''
  if (OBJECT_NAME.test(sha) && !holdsSecret(sha, context.secrets)) return { kind: 'landed', sha }
  // It was carried out, and only its result could not be read.
  if (isRecord(made)) return lost(notUnderstood(answer, context))
  const [error] = elements(member(data, 'errors'))
  return isRace(error) ? { kind: 'race' } : lost(refusedCommit(answer, context))
}

/** A status that says nothing of the commit, as of a gateway in between, says as little of what was made. */
function unlessSaid(failure: Failure): ApiCommitted {
  if (failure.reason === 'PushRejected' && failure.retry === 'slow') return { kind: 'lost', failure }
  return lost(failure)
}

/**
 * After a transient failure nobody knows whether the commit was made, except after a rate limit: the host counts a request
 * before it does anything. After any other nothing was written, and it is thrown.
 */
function lost(failure: Failure): ApiCommitted {
  if (failure.retry === 'transient' && failure.reason !== 'RateLimited') return { kind: 'lost', failure }
  throw failure
}
