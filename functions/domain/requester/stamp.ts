import type { KeyObject } from 'node:crypto'
import { applierOf } from './delegation.ts'
import type { Applier, Delegation } from './delegation.ts'
import { isRecord, member, sameJSON, textMember } from '../json-value.ts'
import {
  REQUEST_GENERATION,
  REQUESTED_AT,
  REQUESTED_BY,
  REQUESTER,
  REQUESTER_SIGNATURE,
} from '../resource/api-names.ts'
import { sign } from './signature.ts'
import { changesGeneration, generationToStamp } from './stamp-generation.ts'
import { stampTime } from './stamp-time.ts'
import type { Signed } from './signature.ts'
import { displayName } from './user-info.ts'
import type { UserInfo } from './user-info.ts'

/** The stamp's annotations and their values; undefined: the resource must not have the annotation. */
export type Stamp = Readonly<Record<(typeof STAMP)[number], string | undefined>>

/** A resource before and after a CREATE or UPDATE; `before` is undefined on CREATE. */
export interface Application {
  readonly before: unknown
  readonly after: unknown
  /** The resource's own namespace, as the API server reports it. */
  readonly namespace: string
  /** What isSameSpec tells, where that is known: to compare two large specs takes time. */
  readonly isSame?: boolean
}

/** The user who applies, and the operator's settings for stamps. */
export interface Stamping {
  readonly user: UserInfo
  /** Of the user's `extra` only these keys are kept, because some clouds put credentials there. */
  readonly extraKeys: readonly string[]
  readonly delegation: Delegation
  /** Undefined: stamps are not signed. */
  readonly key: KeyObject | undefined
  /** A follower's stamp says when it was made. */
  readonly now: Date
}

/** The annotations that only the webhook writes. */
export const STAMP = [REQUESTED_BY, REQUESTER, REQUESTER_SIGNATURE, REQUEST_GENERATION] as const

/**
 * Whether this application is a request: true on CREATE, and if the spec, apart from `suspend`, or the value of
 * `commitlet.dev/requested-at` changes.
 */
export function isNewRequest(application: Application): boolean {
  const { before, after } = application
  if (before === undefined) return true
  if (annotation(before, REQUESTED_AT) !== annotation(after, REQUESTED_AT)) return true
  return !isSameSpec(application)
}

/** Whether this application changes `spec.suspend`: it asks for nothing, and still the status has to tell. */
export function changesSuspend({ before, after }: Pick<Application, 'before' | 'after'>): boolean {
  return member(member(before, 'spec'), 'suspend') !== member(member(after, 'spec'), 'suspend')
}

/** Whether the stored resource has a new generation, and neither a new spec nor another value of `suspend`. */
export function onlyRaisesGeneration(application: Application): boolean {
  const { before, after } = application
  if (!changesGeneration(before, after) || changesSuspend(application)) return false
  return isSameSpec(application)
}

/** Whether both have the same spec, apart from `suspend`. */
export function isSameSpec({ before, after, isSame }: Omit<Application, 'namespace'>): boolean {
  if (isSame !== undefined) return isSame
  const [had, has] = [member(before, 'spec'), member(after, 'spec')]
  if (!isRecord(had) || !isRecord(has)) return sameJSON(had, has)
  // To copy a large one without `suspend` takes longer than to compare both.
  const keys = comparedKeys(had)
  if (keys.length !== comparedKeys(has).length) return false
  return keys.every((key) => Object.hasOwn(has, key) && sameJSON(had[key], has[key]))
}

function comparedKeys(spec: object): readonly string[] {
  return Object.keys(spec).filter((key) => key !== 'suspend')
}

// Whoever may change a resource may suspend it, and what its requester has asked for stays.
function withoutSuspend(spec: unknown): unknown {
  if (!isRecord(spec) || !Object.hasOwn(spec, 'suspend')) return spec
  return Object.fromEntries(Object.entries(spec).filter(([key]) => key !== 'suspend'))
}

/** Whether this application sets `commitlet.dev/requested-at` to an empty value, which is not a request. */
export function emptiesRequest({ before, after }: Application): boolean {
  return annotationText(after, REQUESTED_AT) === '' && annotationText(before, REQUESTED_AT) !== ''
}

/** Whether the stamp differs from the one that the resource had. */
export function changesStamp({ before, after }: Application): boolean {
  return STAMP.some((key) => annotation(before, key) !== annotation(after, key))
}

/**
 * The stamp that the resource has to have: the sender's if they make a request, else the one it had, even if another
 * user updates the rest.
 */
export function stampFor(application: Application, stamping: Stamping): Stamp {
  const { before, after, namespace } = application
  const generation = generationOf(application)
  if (!isNewRequest(application)) return { ...stampOf(before), [REQUEST_GENERATION]: generation }
  const applier = applierOf(stamping.user, namespace, stamping.delegation)
  const shown = displayName(applier.user.username) + (applier.as === undefined ? '' : ` as ${applier.as}`)
  const unsigned = { [REQUESTED_BY]: shown, [REQUESTER]: requesterJSON(applier, stamping, application) }
  const signed = signedOf(after, namespace, unsigned)
  const signature = stamping.key === undefined ? undefined : sign(signed, stamping.key)
  return { ...unsigned, [REQUESTER_SIGNATURE]: signature, [REQUEST_GENERATION]: generation }
}

// Needed from the first change of `suspend` on, until the rest of the spec changes; see requestGeneration.
function generationOf(application: Application): string | undefined {
  const { before } = application
  if (before === undefined || !isSameSpec(application)) return undefined
  const noted = annotation(before, REQUEST_GENERATION)
  const generation = member(member(before, 'metadata'), 'generation')
  return noted ?? (changesSuspend(application) ? String(generation) : undefined)
}

/** The stamp that a resource has, genuine or not. */
export function stampOf(resource: unknown): Stamp {
  return {
    [REQUESTED_BY]: annotation(resource, REQUESTED_BY),
    [REQUESTER]: annotation(resource, REQUESTER),
    [REQUESTER_SIGNATURE]: annotation(resource, REQUESTER_SIGNATURE),
    [REQUEST_GENERATION]: annotation(resource, REQUEST_GENERATION),
  }
}

/**
 * The stamp's annotations that the sender changed: neither as the resource had them nor as it has to have them. None if
 * the sender sent none of them: they have replaced the resource by a file of their own.
 */
export function overwrittenIn({ before, after }: Application, wanted: Stamp): readonly string[] {
  const [had, sent] = [stampOf(before), stampOf(after)]
  if (STAMP.every((key) => sent[key] === undefined)) return []
  return STAMP.filter((key) => sent[key] !== had[key] && sent[key] !== wanted[key])
}

/** Bytes that the stamp takes of the 256 KiB for all annotations of a resource. */
export function stampBytes(stamp: Stamp): number {
  return STAMP.reduce((sum, key) => sum + key.length + Buffer.byteLength(stamp[key] ?? ''), 0)
}

/** What the signature of this resource's stamp covers. */
export function signedOf(
  resource: unknown,
  namespace: string,
  stamp: Pick<Stamp, typeof REQUESTED_BY | typeof REQUESTER>,
): Signed {
  return {
    namespace,
    kind: textMember(resource, 'kind') ?? '',
    spec: withoutSuspend(member(resource, 'spec')),
    requestedAt: annotation(resource, REQUESTED_AT),
    requestedBy: stamp[REQUESTED_BY],
    requester: stamp[REQUESTER],
  }
}

// The order of the keys is fixed: the same user gives the same bytes.
function requesterJSON(
  { user, as }: Applier,
  { extraKeys, now }: Stamping,
  application: Application,
): string {
  const { before, after } = application
  const kept = extraKeys.flatMap((key) => {
    const values = member(user.extra, key)
    return values === undefined ? [] : [[key, values] as const]
  })
  return JSON.stringify({
    username: user.username,
    uid: user.uid,
    groups: user.groups,
    extra: kept.length === 0 ? undefined : Object.fromEntries(kept),
    as,
    generation: generationToStamp(before, before !== undefined && isSameSpec(application)),
    at: stampTime(after, now),
  })
}

// An empty annotation counts as none, as in the webhooks' matchConditions.
function annotation(resource: unknown, key: string): string | undefined {
  return annotationText(resource, key) || undefined
}

function annotationText(resource: unknown, key: string): string | undefined {
  return textMember(member(member(resource, 'metadata'), 'annotations'), key)
}
