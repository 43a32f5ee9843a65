import { Failure } from '../failure.ts'
import { member } from '../json-value.ts'
import { type ObjectRef, API_VERSION, isObjectName } from '../resource/resource.ts'

/**
 * The reference in an event's data (`typed` holds apiVersion and kind, `data` the rest). Throws InvalidSpec, one
 * sentence, if a part is missing or malformed.
 */
export function readRef(typed: unknown, data: unknown): ObjectRef {
  const apiVersion = member(typed, 'apiVersion')
  const kind = member(typed, 'kind')
  if (apiVersion !== API_VERSION || (kind !== 'GitCommit' && kind !== 'PullRequest')) {
    throw new Failure('InvalidSpec', `The event has to name a GitCommit or PullRequest of ${API_VERSION}.`)
  }
  const uid = member(data, 'uid')
  const generation = member(data, 'generation')
  const request = member(data, 'request')
  if (uid !== undefined && !matches(uid, /^[A-Za-z0-9-]{1,128}$/)) throw wrong('uid', 'a uid')
  if (generation !== undefined && !isGeneration(generation))
    throw wrong('generation', 'a whole number above 0')
  if (request !== undefined && !matches(request, /^[0-9a-f]{8}$/)) throw wrong('request', '8 hex digits')
  return {
    kind,
    namespace: named(data, 'namespace'),
    name: named(data, 'name'),
    ...(uid === undefined ? {} : { uid }),
    ...(generation === undefined ? {} : { generation }),
    ...(request === undefined ? {} : { request }),
  }
}

function named(data: unknown, field: string): string {
  const value = member(data, field)
  if (typeof value === 'string' && isObjectName(value)) return value
  throw wrong(field, 'a name of lower-case letters, digits, "-" and "."')
}

function wrong(field: string, expected: string): Failure {
  return new Failure('InvalidSpec', `The ${field} that the event names has to be ${expected}.`)
}

function matches(value: unknown, pattern: RegExp): value is string {
  return typeof value === 'string' && pattern.test(value)
}

function isGeneration(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) > 0
}
