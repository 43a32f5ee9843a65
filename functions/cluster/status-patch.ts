import { isRecord } from '../domain/json-value.ts'
import type { Condition, Envelope, Status } from '../domain/resource/resource.ts'
import { GITCOMMIT_STATUS, PULLREQUEST_STATUS } from '../domain/schema/status.ts'

const SCHEMAS = { GitCommit: GITCOMMIT_STATUS, PullRequest: PULLREQUEST_STATUS } as const

/**
 * The merge patch (RFC 7396) that makes `after` of the resource's status. A newer release may have written fields, and
 * conditions of types, that this one does not know: these stay. A field that is known is one statement: it is replaced
 * with all that is in it.
 */
export function statusPatch({ kind, status: before }: Envelope, after: Status): unknown {
  const known = SCHEMAS[kind].properties ?? {}
  const stored = Object.entries(before ?? {}).filter(([key]) => Object.hasOwn(known, key))
  const isOurs = ({ type }: Condition): boolean =>
    known['conditions']?.items?.properties?.['type']?.enum?.includes(type) === true
  // A merge patch replaces a list as a whole: what is to stay in it is sent as well.
  const conditions = [
    ...(after.conditions ?? []).filter((condition) => isOurs(condition)),
    ...(before?.conditions ?? []).filter((condition) => !isOurs(condition)),
  ]
  const whole = conditions.length === 0 ? after : { ...after, conditions }
  return replacing(Object.fromEntries(stored), whole)
}

/** A merge patch keeps what it does not name: what `after` lacks is named and removed by null. */
function replacing(before: unknown, after: unknown): unknown {
  if (!isRecord(before) || !isRecord(after)) return after
  const gone = Object.keys(before).map((key) => [key, null])
  const kept = Object.entries(after).map(([key, value]) => [key, replacing(before[key], value)])
  return Object.fromEntries([...gone, ...kept])
}
