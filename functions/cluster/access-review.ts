import { createHash, randomUUID } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Access } from '../domain/gate/access.ts'
import { Failure } from '../domain/failure.ts'
import { member, textMember } from '../domain/json-value.ts'
import { readUserInfo, type UserInfo } from '../domain/requester/user-info.ts'
import type { ApiServer } from './api-server.ts'
import type { Cluster } from './cluster.ts'
import { accountRefused, bodyOf } from './calls/answer.ts'
import { takeTurnsOfAttempts } from './calls/attempt-turns.ts'
import { shareSlowCalls } from './calls/slow-calls.ts'

/**
 * Whether this user has this access. Throws a Failure if the API server could not review it. `by`: for a resource of this
 * namespace, in the turns of all of them; default: at once.
 */
export type ReviewAccess = Cluster['reviewAccess']

/** A right that was revoked is denied after this time at the latest. */
const REMEMBERED_MS = 5_000
/** Most remembered reviews: a few hundred bytes each. */
const MOST_REMEMBERED = 4_096

/** What reviews are made with besides. */
export interface ReviewParts {
  /** A namespace may have any number of RoleBindings, all of which the API server reads for each review. */
  readonly slowly?: ReturnType<typeof shareSlowCalls>
  /** Told of each denial for which an authoriser of the API server could not be asked. Default: nobody is. */
  readonly undecided?: () => void
}

/**
 * Reviews access with a SubjectAccessReview. The result "allowed" is remembered for 5 s from the start of the call, so
 * that both webhooks need one call; "denied" is never remembered, so that a granted right counts at once. Equal reviews
 * in flight share one call within the same 5 s. `now` is in milliseconds.
 */
export function accessReviews(
  server: ApiServer,
  now: () => number,
  { slowly = shareSlowCalls(), undecided = () => undefined }: ReviewParts = {},
): ReviewAccess {
  // Reviews in flight, and those with the result "allowed".
  const answers = new LRUCache<string, Promise<boolean>>({
    max: MOST_REMEMBERED,
    ttl: REMEMBERED_MS,
    ttlResolution: 0,
    perf: { now },
  })
  const inTurn = takeTurnsOfAttempts(now)
  // One user may have a thousand accesses reviewed, and a long list of groups.
  const digests = new WeakMap<UserInfo, string>()

  function digestOf(user: UserInfo): string {
    const digest = digests.get(user) ?? hashOf(user)
    digests.set(user, digest)
    return digest
  }

  function forget(key: string, answer: Promise<boolean>): void {
    if (answers.peek(key) === answer) answers.delete(key)
  }

  return function reviewAccess(user, access, by) {
    const key = hashOf([digestOf(user), access])
    const known = answers.get(key)
    if (known !== undefined) return known
    const call = async (): Promise<boolean> => {
      const { allowed, isDecided } = await review(server, user, access)
      if (!allowed && !isDecided) undecided()
      return allowed
    }
    const forAnybody = (): Promise<unknown> => review(server, user, accessInNobodysNamespace(access))
    const answer =
      by === undefined
        ? call()
        : slowly(by.namespace, { inTurn: (call) => inTurn(by, call), call, forAnybody })
    answers.set(key, answer)
    answer.then(
      (allowed) => allowed || forget(key, answer),
      () => forget(key, answer),
    )
    return answer
  }
}

/** The same access in a namespace that nobody has, and that was never asked about: no right in any namespace counts for it. */
export function accessInNobodysNamespace(access: Access): Access {
  return { ...access, namespace: `commitlet-${randomUUID()}` }
}

// Hashed: some clouds put credentials into `extra`, and the list of groups may be long.
function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64')
}

/** https://kubernetes.io/docs/reference/kubernetes-api/authorization-resources/subject-access-review-v1/ */
async function review(server: ApiServer, user: UserInfo, access: Access): Promise<Reviewed> {
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
  if (answer.status === 403) throw reviewForbidden()
  const status = member(bodyOf(answer, 'SubjectAccessReview'), 'status')
  // With an `evaluationError` it is a denial as well: no right was shown.
  return { allowed: member(status, 'allowed') === true, isDecided: !textMember(status, 'evaluationError') }
}

interface Reviewed {
  readonly allowed: boolean
  /** Each authoriser has said what it knows: RBAC names roles that are missing in its reason. */
  readonly isDecided: boolean
}

/** What the API server tells everybody about themselves. */
export interface Self {
  /** Who the API server takes the caller for. */
  readonly whoAmI: () => Promise<UserInfo>
  /** Whether the caller has this access. */
  readonly mayI: (access: Access) => Promise<boolean>
}

/**
 * Asks about whoever calls, with SelfSubjectReview and SelfSubjectAccessReview, which every user may. Nothing is remembered.
 * @throws Failure what the API server answers
 */
export function askAboutSelf(server: ApiServer): Self {
  async function ask(group: string, kind: string, spec?: object): Promise<unknown> {
    const path = `/apis/${group}/v1/${kind.toLowerCase()}s`
    const body = { apiVersion: `${group}/v1`, kind, spec }
    return member(bodyOf(await server({ method: 'POST', path, body }), kind), 'status')
  }
  return {
    async whoAmI() {
      const user = readUserInfo(member(await ask('authentication.k8s.io', 'SelfSubjectReview'), 'userInfo'))
      if (user !== undefined) return user
      throw new Failure(
        'ProviderUnavailable',
        'The API server does not tell who calls it; use another kubeconfig.',
      )
    },
    async mayI(access) {
      const spec = { resourceAttributes: access }
      return member(await ask('authorization.k8s.io', 'SelfSubjectAccessReview', spec), 'allowed') === true
    },
  }
}

function reviewForbidden(): Failure {
  const message =
    "Commitlet's service account may not create subjectaccessreviews, so no user's rights can be checked; ask your Commitlet operator."
  return accountRefused(message)
}
