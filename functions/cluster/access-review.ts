import { createHash } from 'node:crypto'
import type { Access } from '../domain/gate/access.ts'
import type { Failure } from '../domain/failure.ts'
import { member } from '../domain/json-value.ts'
import type { UserInfo } from '../domain/requester/user-info.ts'
import type { ApiServer } from './api-server.ts'
import { accountRefused, bodyOf } from './answer.ts'

/** May this user do this? Throws a Failure where the API server could not be asked. */
export type ReviewAccess = (user: UserInfo, access: Access) => Promise<boolean>

/** A right that was taken away counts after so long at the latest. */
const REMEMBERED_MS = 5_000
/** Questions that are remembered at once: some hundred bytes each. */
const MOST_REMEMBERED = 4_096

/**
 * Asks the API server by SubjectAccessReview. An answer "allowed" is remembered for 5 s from the moment of the
 * question, so that both webhooks ask once; "denied" is never, so that a right that was given counts at once.
 * Equal questions that are under way are asked once within the same 5 s. `now` is in milliseconds.
 */
export function accessReviews(server: ApiServer, now: () => number): ReviewAccess {
  const questions = new Map<string, Question>()

  function remember(key: string, question: Question): void {
    // Set anew, not over: a Map keeps the order of its keys' first setting, and the oldest goes first.
    questions.delete(key)
    questions.set(key, question)
    for (const [old, { until }] of questions) {
      if (until > now() && questions.size <= MOST_REMEMBERED) break
      questions.delete(old)
    }
  }

  function forget(key: string, question: Question): void {
    if (questions.get(key) === question) questions.delete(key)
  }

  return function reviewAccess(user, access) {
    const key = keyOf(user, access)
    const asked = questions.get(key)
    if (asked !== undefined && asked.until > now()) return asked.answer
    const question = { until: now() + REMEMBERED_MS, answer: review(server, user, access) }
    remember(key, question)
    question.answer.then(
      (allowed) => allowed || forget(key, question),
      () => forget(key, question),
    )
    return question.answer
  }
}

/** A question that is under way, or was answered with "allowed". */
interface Question {
  readonly answer: Promise<boolean>
  /** So long its answer counts, in the milliseconds of `now`. */
  readonly until: number
}

// Hashed: some clouds put credentials into `extra`, and groups may be many.
function keyOf(user: UserInfo, access: Access): string {
  return createHash('sha256')
    .update(JSON.stringify([user, access]))
    .digest('base64')
}

/** https://kubernetes.io/docs/reference/kubernetes-api/authorization-resources/subject-access-review-v1/ */
async function review(server: ApiServer, user: UserInfo, access: Access): Promise<boolean> {
  const { username, uid, groups, extra } = user
  const answer = await server({
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    body: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: { user: username, uid, groups, extra, resourceAttributes: access },
    },
  })
  if (answer.status === 403) throw mayNotAsk()
  // `evaluationError` beside "not allowed" is a no as well: whoever could not be looked up has shown no right.
  return member(member(bodyOf(answer, 'SubjectAccessReview'), 'status'), 'allowed') === true
}

function mayNotAsk(): Failure {
  const message =
    "Commitlet's service account may not create subjectaccessreviews, so no user's rights can be checked; ask whoever runs Commitlet."
  return accountRefused(message)
}
