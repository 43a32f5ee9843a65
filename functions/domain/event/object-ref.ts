import { Failure } from '../failure.ts'
import { member } from '../json-value.ts'
import type { Kind } from '../resource/api-names.ts'
import type { ObjectRef } from '../resource/resource.ts'
import { API_VERSION, GROUP, PLURALS } from '../resource/api-names.ts'
import { isObjectName } from '../resource/resource.ts'
import type { Hint } from './hint.ts'

/**
 * The reference in an event's data (`typed` holds apiVersion and kind, `data` the rest). Throws InvalidSpec, one
 * sentence, if a part is missing or malformed.
 */
export function readRef(typed: unknown, data: unknown): ObjectRef {
  const kind = kindOf(typed)
  if (kind === undefined) {
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

/**
 * What to look at after the object in an event's data was stored: a resource of Commitlet itself, or those that wait for
 * the object; nothing for a name that no resource can refer to, such as `system:node`. Throws InvalidSpec if it has no
 * name. A resource gets neither uid nor generation, because nobody has to wait for what is stored.
 */
export function hintsAbout(typed: unknown, data: unknown): readonly Hint[] {
  const kind = kindOf(typed)
  if (kind !== undefined) {
    return [
      { about: 'resource', ref: { kind, namespace: named(data, 'namespace'), name: named(data, 'name') } },
    ]
  }
  const name = member(data, 'name')
  if (typeof name !== 'string' || name === '') throw wrong('name', 'a name')
  return hintsAboutOther(name, member(data, 'namespace'))
}

/** The same for an object of another kind; `namespace` is absent or empty for one that has none. */
export function hintsAboutOther(name: string, namespace: unknown): readonly Hint[] {
  if (!isObjectName(name)) return []
  if (namespace === undefined || namespace === '') return [{ about: 'object', object: { name } }]
  if (typeof namespace !== 'string' || !isObjectName(namespace)) return []
  return [{ about: 'object', object: { namespace, name } }]
}

function kindOf(typed: unknown): Kind | undefined {
  const kind = member(typed, 'kind')
  const isOurs = member(typed, 'apiVersion') === API_VERSION
  return isOurs && (kind === 'GitCommit' || kind === 'PullRequest') ? kind : undefined
}

/** The kind of Commitlet with this plural in this API group, whatever its version. */
export function kindOfPlural(group: unknown, plural: unknown): Kind | undefined {
  if (group !== GROUP) return undefined
  if (plural === PLURALS.GitCommit) return 'GitCommit'
  return plural === PLURALS.PullRequest ? 'PullRequest' : undefined
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
