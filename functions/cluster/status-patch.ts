import { Failure } from '../domain/failure.ts'
import { isRecord } from '../domain/json-value.ts'
import type { Condition, Status } from '../domain/resource/stored-status.ts'
import type { Envelope } from '../domain/resource/resource.ts'
import { GITCOMMIT_STATUS } from '../domain/crd/git-commit-status.ts'
import { PULLREQUEST_STATUS } from '../domain/crd/status.ts'
import type { ApiAnswer } from './calls/exchange.ts'

const SCHEMAS = { GitCommit: GITCOMMIT_STATUS, PullRequest: PULLREQUEST_STATUS } as const

/**
 * The merge patch (RFC 7396) that changes the resource's status to `after`. Fields and types of conditions that this
 * release does not know, because a newer release wrote them, are kept. A known field is replaced as a whole.
 */
export function statusPatch({ kind, status: before }: Envelope, after: Status): unknown {
  const known = SCHEMAS[kind].properties ?? {}
  const stored = Object.entries(before ?? {}).filter(([key]) => Object.hasOwn(known, key))
  const isOurs = ({ type }: Condition): boolean =>
    known['conditions']?.items?.properties?.['type']?.enum?.includes(type) === true
  // A merge patch replaces a list as a whole, so it must include the conditions to keep.
  const conditions = [
    ...(after.conditions ?? []).filter((condition) => isOurs(condition)),
    ...(before?.conditions ?? []).filter((condition) => !isOurs(condition)),
  ]
  const whole = conditions.length === 0 ? after : { ...after, conditions }
  return replacing(Object.fromEntries(stored), whole)
}

/** A merge patch keeps fields that it does not name: fields that `after` lacks are removed with null. */
function replacing(before: unknown, after: unknown): unknown {
  if (!isRecord(before) || !isRecord(after)) return after
  const removed = Object.keys(before).map((key) => [key, null])
  const kept = Object.entries(after).map(([key, value]) => [key, replacing(before[key], value)])
  return Object.fromEntries([...removed, ...kept])
}

/**
 * Whether the API server cannot store what was sent, because it would be larger than etcd takes (1.5 MiB by default), or the
 * API server itself. It passes on what etcd, or its client, has said: https://etcd.io/docs/latest/dev-guide/limit/
 */
export function isTooLargeToStore({ status, text }: ApiAnswer): boolean {
  return status === 413 || (status === 500 && /request is too large|larger than max/.test(text))
}

/** The Failure of a status that cannot be stored because of what else the resource holds. */
export function withoutRoom({ kind, metadata: { namespace, name } }: Envelope): Failure {
  const message = `The ${kind} ${namespace}/${name} is so large that the API server has no room for its status; remove labels, annotations, finalizers or ownerReferences from it.`
  return new Failure('NotSupported', message)
}
