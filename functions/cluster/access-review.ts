import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
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
  // Answers that are awaited, and those that are "allowed".
  const answers = new LRUCache<string, Promise<boolean>>({
    max: MOST_REMEMBERED,
    ttl: REMEMBERED_MS,
    ttlResolution: 0,
    perf: { now },
  })

  function forget(key: string, answer: Promise<boolean>): void {
    if (answers.peek(key) === answer) answers.delete(key)
  }

  return function reviewAccess(user, access) {
    const key = keyOf(user, access)
    const known = answers.get(key)
    if (known !== undefined) return known
    const answer = review(server, user, access)
    answers.set(key, answer)
    answer.then(
      (allowed) => allowed || forget(key, answer),
      () => forget(key, answer),
    )
    return answer
  }
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
