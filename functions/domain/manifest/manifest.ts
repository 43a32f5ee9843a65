import { boundedText } from './bounded-text.ts'
import { Failure } from '../failure.ts'
import { parseJSONText, writeJSON } from './json-text.ts'
import { isEmpty, isMapping, isSequence, type Mapping, type JSONNode } from './json-node.ts'
import { GROUP } from '../resource/api-names.ts'
import { writeYAML } from './yaml-text.ts'

const MEBIBYTE = 1024 * 1024

/** Maximum size of a manifest in bytes: more than six times the 1.5 MiB that etcd accepts by default. */
export const MANIFEST_LIMIT = 10 * MEBIBYTE

/**
 * Maximum number of characters of an object as the API server sends it: the size of a file, and 2 MiB for the fields
 * that are not committed. By default etcd stores at most 1.5 MiB of an object, managedFields and status included, and
 * JSON takes at most 6 characters for a byte (an escape such as `\u003c` for `<`), which makes 9 MiB.
 */
export const OBJECT_LIMIT = MANIFEST_LIMIT + 2 * MEBIBYTE

/** Fields of metadata that the API server sets and that only describe the running object (metav1.ObjectMeta). */
const SERVER_FIELDS: ReadonlySet<string> = new Set([
  'managedFields',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'selfLink',
  'ownerReferences',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
])
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

/** The object to commit; `namespace` is undefined if, and only if, its kind is cluster-scoped. */
export interface RequestedObject {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly namespace: string | undefined
}

/**
 * The bytes to commit for an object as the API server sent it (JSON): YAML, or JSON if the path ends in `.json`,
 * without the fields that only describe the running object. Equal objects give equal bytes.
 * Failures: ReferenceForbidden for a Secret and for another object than the requested one; NotSupported for more than
 * `OBJECT_LIMIT` (the object is not parsed then) or `MANIFEST_LIMIT`, too many values or too deep nesting;
 * ProviderUnavailable for an answer that is not JSON.
 */
export function renderManifest(answer: string, requested: RequestedObject, path: string): Uint8Array {
  return manifestBytes(readRequested(answer, requested), requested, path)
}

/** The same for an object that `readRequested` has read. */
export function manifestBytes(object: Mapping, requested: RequestedObject, path: string): Uint8Array {
  const tooLong = (): Failure => tooLarge(subjectOf(requested), MANIFEST_LIMIT, 'as a file')
  const { write, bytes } = boundedText(MANIFEST_LIMIT, tooLong)
  if (path.toLowerCase().endsWith('.json')) writeJSON(committable(object), write)
  else writeYAML(committable(object), write)
  return bytes()
}

/** The object as the API server sent it (JSON), which is the requested one and no Secret; fails as `renderManifest`. */
export function readRequested(answer: string, requested: RequestedObject): Mapping {
  const subject = subjectOf(requested)
  if (answer.length > OBJECT_LIMIT) throw tooLarge(subject, OBJECT_LIMIT, 'as the API server sends it')
  const object = parseJSONText(answer, `The answer for ${subject}`)
  refuseSecret(object, subject)
  return requireRequested(object, requested, subject)
}

function subjectOf({ kind, namespace, name }: RequestedObject): string {
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`
}

function tooLarge(subject: string, limit: number, form: string): Failure {
  return new Failure(
    'NotSupported',
    `${subject} takes more than ${limit / MEBIBYTE} MiB ${form}, which is the limit; refer to a smaller object.`,
  )
}

function refuseSecret(object: JSONNode, subject: string): void {
  if (!containsSecret(object)) return
  throw new Failure(
    'ReferenceForbidden',
    `The answer for ${subject} contains a Secret, and a Secret is never committed in clear text; refer to an encrypted form of it.`,
  )
}

function containsSecret(node: JSONNode): boolean {
  if (!isMapping(node)) return false
  const kind = node.get('kind')
  if (node.get('apiVersion') === 'v1' && (kind === 'Secret' || kind === 'SecretList')) return true
  const items = node.get('items')
  return isSequence(items) && items.some(containsSecret)
}

function requireRequested(object: JSONNode, requested: RequestedObject, subject: string): Mapping {
  const members: Mapping = isMapping(object) ? object : new Map()
  const metadata = members.get('metadata')
  const meta: Mapping = isMapping(metadata) ? metadata : new Map()
  const compared: readonly (readonly [string, JSONNode | undefined, string])[] = [
    ['apiVersion', members.get('apiVersion'), requested.apiVersion],
    ['kind', members.get('kind'), requested.kind],
    ['metadata.name', meta.get('name'), requested.name],
    ['metadata.namespace', meta.get('namespace') ?? '', requested.namespace ?? ''],
  ]
  const mismatch = compared.find(([, found, expected]) => found !== expected)
  if (mismatch === undefined) return members
  throw new Failure(
    'ReferenceForbidden',
    `The answer for ${subject} is another object: its ${mismatch[0]} is not ${mismatch[2] === '' ? 'empty' : `"${mismatch[2]}"`}; correct resourceRef, or ask the operator of that API.`,
  )
}

function committable(object: Mapping): Mapping {
  const kept = new Map<string, JSONNode>()
  for (const key of ['apiVersion', 'kind', 'metadata', ...object.keys()]) {
    const value = object.get(key)
    if (value === undefined || key === 'status') continue
    kept.set(key, key === 'metadata' && isMapping(value) ? ownMetadata(value) : value)
  }
  return kept
}

function ownMetadata(metadata: Mapping): Mapping {
  const kept = new Map<string, JSONNode>()
  for (const [key, value] of metadata) {
    if (SERVER_FIELDS.has(key)) continue
    const own = key === 'annotations' && isMapping(value) ? ownAnnotations(value) : value
    if (key !== 'annotations' || !isEmpty(own)) kept.set(key, own)
  }
  return kept
}

function ownAnnotations(annotations: Mapping): Mapping {
  const own = ([key]: readonly [string, JSONNode]): boolean =>
    key !== LAST_APPLIED && !key.startsWith(`${GROUP}/`)
  return new Map([...annotations].filter(own))
}
