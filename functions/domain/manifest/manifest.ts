import { boundedText } from './bounded-text.ts'
import { Failure } from '../failure.ts'
import { parseJSONText, writeJSON } from './json-text.ts'
import { isEmpty, isMapping, isSequence, type Mapping, type JSONNode } from './json-node.ts'
import { GROUP } from '../resource/resource.ts'
import { writeYAML } from './yaml-text.ts'

const MEBIBYTE = 1024 * 1024

/** The most bytes that a manifest may have: over six times the 1.5 MiB that etcd takes by default. */
export const MANIFEST_LIMIT = 10 * MEBIBYTE

/**
 * The most characters that an object may have as the API server sends it: as much as a file may, and 2 MiB for what
 * is not committed. etcd stores at most 1.5 MiB of an object by default, managedFields and status included, and JSON
 * takes at most 6 characters for a byte of it (an escape such as `\u003c` for `<`), which makes 9 MiB.
 */
export const OBJECT_LIMIT = MANIFEST_LIMIT + 2 * MEBIBYTE

/** What belongs to the running object alone: server-side fields of metadata (metav1.ObjectMeta). */
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

/** The object that was asked for; it has no namespace where its kind is cluster-scoped, and only there. */
export interface AskedObject {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly namespace: string | undefined
}

/**
 * The bytes to commit for an object as the API server sent it (JSON): YAML, or JSON where the path ends in
 * `.json`, without the fields that belong to the running object. Equal objects have equal bytes.
 * Failures: ReferenceForbidden for another object than the asked one and for a Secret, NotSupported above
 * `OBJECT_LIMIT` (it is not parsed then), above `MANIFEST_LIMIT`, for too many values or for extreme nesting, ProviderUnavailable for an answer that is not JSON.
 */
export function renderManifest(live: string, asked: AskedObject, path: string): Uint8Array {
  const subject = `${asked.kind} ${asked.namespace === undefined ? '' : `${asked.namespace}/`}${asked.name}`
  if (live.length > OBJECT_LIMIT) throw tooLarge(subject, OBJECT_LIMIT, 'as the API server sends it')
  const object = parseJSONText(live, `The answer for ${subject}`)
  refuseSecret(object, subject)
  const { write, bytes } = boundedText(MANIFEST_LIMIT, () => tooLarge(subject, MANIFEST_LIMIT, 'as a file'))
  const manifest = committable(expectAsked(object, asked, subject))
  if (path.toLowerCase().endsWith('.json')) writeJSON(manifest, write)
  else writeYAML(manifest, write)
  return bytes()
}

function tooLarge(subject: string, limit: number, form: string): Failure {
  return new Failure(
    'NotSupported',
    `${subject} takes more than ${limit / MEBIBYTE} MiB ${form}, which is the most that is committed; refer to a smaller object.`,
  )
}

function refuseSecret(object: JSONNode, subject: string): void {
  if (!holdsSecret(object)) return
  throw new Failure(
    'ReferenceForbidden',
    `The answer for ${subject} holds a Secret, and a Secret is never committed in clear; refer to an encrypted form of it.`,
  )
}

function holdsSecret(node: JSONNode): boolean {
  if (!isMapping(node)) return false
  const kind = node.get('kind')
  if (node.get('apiVersion') === 'v1' && (kind === 'Secret' || kind === 'SecretList')) return true
  const items = node.get('items')
  return isSequence(items) && items.some(holdsSecret)
}

function expectAsked(object: JSONNode, asked: AskedObject, subject: string): Mapping {
  const members: Mapping = isMapping(object) ? object : new Map()
  const metadata = members.get('metadata')
  const meta: Mapping = isMapping(metadata) ? metadata : new Map()
  const compared: readonly (readonly [string, JSONNode | undefined, string])[] = [
    ['apiVersion', members.get('apiVersion'), asked.apiVersion],
    ['kind', members.get('kind'), asked.kind],
    ['metadata.name', meta.get('name'), asked.name],
    ['metadata.namespace', meta.get('namespace') ?? '', asked.namespace ?? ''],
  ]
  const other = compared.find(([, found, expected]) => found !== expected)
  if (other === undefined) return members
  throw new Failure(
    'ReferenceForbidden',
    `The answer for ${subject} is another object: its ${other[0]} is not ${other[2] === '' ? 'empty' : `"${other[2]}"`}; correct resourceRef, or ask whoever runs that API.`,
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
