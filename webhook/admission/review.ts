import { Failure } from '../../functions/domain/failure.ts'
import { isRecord, member, textMember } from '../../functions/domain/json-value.ts'
import { isSameSpec } from '../../functions/domain/requester/stamp.ts'
import type { Application } from '../../functions/domain/requester/stamp.ts'
import type { PatchOperation } from '../../functions/domain/requester/stamp-patch.ts'
import type { Kind } from '../../functions/domain/resource/api-names.ts'
import { GROUP } from '../../functions/domain/resource/api-names.ts'
import type { UserInfo } from '../../functions/domain/requester/user-info.ts'
import { LONGEST_NAME } from '../../functions/domain/spec/names.ts'
import { readUserInfo } from '../../functions/domain/requester/user-info.ts'

/** The answer repeats it. That of an API server has 36 characters. */
const LONGEST_UID = 128

const REVIEW = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' } as const

/** The part of an admission.k8s.io/v1 request that decisions need. `object` is null on DELETE. */
export interface AdmissionRequest {
  readonly uid: string
  readonly kind: Kind
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'
  readonly subResource: string
  readonly namespace: string
  /**
   * Empty on CREATE with generateName, until the API server has generated the name. The beginning of one that is too
   * long, which the API server denies later.
   */
  readonly name: string
  readonly dryRun: boolean
  readonly user: UserInfo
  readonly object: unknown
  readonly oldObject: unknown
  /** The resource before and after, and whether both have the same spec, which is found out once. */
  readonly application: Application
  /** Of the connection over which the review has come: its namespaces share what is for one address. */
  readonly address?: string | undefined
  /** Fires where its room is needed for others: nothing is decided any more, and the API server sends it again. */
  readonly givenUp?: AbortSignal | undefined
}

/** One field error as metav1.StatusCause. kubectl prints `field: message`. */
export interface Cause {
  readonly reason: string
  readonly field?: string
  readonly message: string
}

/** Why a request is denied, as metav1.Status. For a 422 with causes, kubectl prints the causes and not the message. */
export interface Denial {
  readonly code: number
  readonly reason: string
  readonly message: string
  readonly details?: DenialDetails
}

/** metav1.StatusDetails: the denied resource and each field error. */
export interface DenialDetails {
  readonly group: string
  readonly kind: Kind
  readonly name: string
  readonly causes: readonly Cause[]
}

/** The decision about a request. Only /mutate sets a patch. */
export interface Verdict {
  readonly denial?: Denial
  readonly warnings?: readonly string[]
  readonly patch?: readonly PatchOperation[]
}

/** Reads an AdmissionReview. Throws InvalidSpec with one sentence for anything else. */
export function readReview(
  value: unknown,
  { address, givenUp }: Pick<AdmissionRequest, 'address' | 'givenUp'> = {},
): AdmissionRequest {
  if (member(value, 'apiVersion') !== REVIEW.apiVersion || member(value, 'kind') !== REVIEW.kind) {
    throw malformed(`The body has to be an ${REVIEW.kind} of ${REVIEW.apiVersion}.`)
  }
  const request = member(value, 'request')
  const uid = textMember(request, 'uid')
  if (uid === undefined || uid === '' || uid.length > LONGEST_UID)
    throw malformed('The AdmissionReview has no request with a uid of at most 128 characters.')
  const namespace = textMember(request, 'namespace')
  if (namespace === undefined || namespace === '') throw malformed('The request has to name its namespace.')
  const operation = readOperation(member(request, 'operation'))
  const [object, oldObject] = [readObject(request, 'object'), readObject(request, 'oldObject')]
  const before = operation === 'CREATE' ? undefined : oldObject
  return {
    uid,
    kind: readKind(member(request, 'kind')),
    operation,
    subResource: textMember(request, 'subResource') ?? '',
    namespace,
    name: (textMember(request, 'name') ?? '').slice(0, LONGEST_NAME),
    dryRun: member(request, 'dryRun') === true,
    user: readUser(member(request, 'userInfo')),
    object,
    oldObject,
    application: { before, after: object, namespace, isSame: isSameSpec({ before, after: object }) },
    address,
    givenUp,
  }
}

/** Wraps a verdict in an AdmissionReview with the uid of the request, as the API server requires. */
export function reviewOf(uid: string, verdict: Verdict): unknown {
  const { denial, warnings = [], patch = [] } = verdict
  const allowed = denial === undefined
  return {
    ...REVIEW,
    response: {
      uid,
      allowed,
      ...(allowed ? {} : { status: { status: 'Failure', ...denial } }),
      ...(warnings.length === 0 ? {} : { warnings }),
      ...(allowed && patch.length > 0 ? encodePatch(patch) : {}),
    },
  }
}

function encodePatch(patch: readonly PatchOperation[]): Readonly<Record<string, string>> {
  return { patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64') }
}

function readKind(value: unknown): Kind {
  const kind = member(value, 'kind')
  const ours = member(value, 'group') === GROUP && member(value, 'version') === 'v1'
  if (ours && (kind === 'GitCommit' || kind === 'PullRequest')) return kind
  throw malformed(`The request has to be for a GitCommit or PullRequest of ${GROUP}/v1.`)
}

function readOperation(value: unknown): AdmissionRequest['operation'] {
  if (value === 'CREATE' || value === 'UPDATE' || value === 'DELETE' || value === 'CONNECT') return value
  throw malformed('The operation of the request has to be CREATE, UPDATE, DELETE or CONNECT.')
}

function readObject(request: unknown, key: 'object' | 'oldObject'): unknown {
  const value = member(request, key) ?? null
  if (value === null || isRecord(member(value, 'metadata'))) return value
  throw malformed(`The ${key} of the request has to be an object with metadata.`)
}

function readUser(value: unknown): UserInfo {
  const user = readUserInfo(value)
  if (user !== undefined) return user
  throw malformed('The request has to name the user in userInfo.username.')
}

function malformed(message: string): Failure {
  return new Failure('InvalidSpec', message)
}
