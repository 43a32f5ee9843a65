import { createHash } from 'node:crypto'
import { requestDigest } from '../commit/commit-message.ts'
import { Failure } from '../failure.ts'
import { member, textMember } from '../json-value.ts'
import { isObjectName } from '../resource/object-name.ts'
import { API_VERSION, PLURALS, REQUESTED_AT } from '../resource/resource.ts'
import type { Kind, ObjectRef } from '../resource/resource.ts'

/** The type of the event that says "this resource was applied", by kind. */
export const APPLIED_TYPES = {
  GitCommit: 'dev.commitlet.gitcommit.applied',
  PullRequest: 'dev.commitlet.pullrequest.applied',
} as const satisfies Record<Kind, string>

/** What the event carries: whom to read, and which state of it the sender saw. */
export interface AppliedData {
  readonly apiVersion: string
  readonly kind: Kind
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly generation: number
  /** Digest of `commitlet.dev/requested-at`, where that is set. */
  readonly request?: string
}

/** A CloudEvent 1.0 before it is put on the wire; extensions stand among the attributes. */
export interface AppliedEvent {
  readonly attributes: Readonly<Record<string, string>>
  readonly data: AppliedData
}

/**
 * The event for a stored (or about to be stored) resource. `id` is a random UUID of the caller's: with
 * `source` it makes the event unique. Throws InvalidSpec for anything but a resource of ours.
 */
export function appliedEvent(resource: unknown, id: string): AppliedEvent {
  const metadata = member(resource, 'metadata')
  const { uid, generation, ...ref } = readRef(resource, metadata)
  const requested = textMember(member(metadata, 'annotations'), REQUESTED_AT) || undefined
  if (uid === undefined || generation === undefined) {
    throw new Failure('InvalidSpec', `${ref.kind} ${ref.namespace}/${ref.name} has no uid or no generation.`)
  }
  return {
    attributes: {
      specversion: '1.0',
      type: APPLIED_TYPES[ref.kind],
      source: `/apis/${API_VERSION}/namespaces/${ref.namespace}/${PLURALS[ref.kind]}`,
      id,
      subject: `${ref.namespace}/${ref.name}`,
      datacontenttype: 'application/json',
      partitionkey: partitionKey(ref.kind, member(resource, 'spec')),
    },
    data: {
      apiVersion: API_VERSION,
      ...ref,
      uid,
      generation,
      ...(requested === undefined ? {} : { request: requestDigest(requested) }),
    },
  }
}

/**
 * Reads the reference out of an event in binary or structured mode (CloudEvents 1.0, HTTP protocol binding).
 * Header names are lower-case, as node:http has them. Throws InvalidSpec, one sentence, for anything else.
 */
export function readEvent(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  body: string | Uint8Array,
): ObjectRef {
  const contentType = mediaType(headers['content-type'])
  if (contentType.startsWith('application/cloudevents-batch')) {
    throw new Failure('NotSupported', 'Batches of events are not supported: send one CloudEvent per request.')
  }
  if (contentType === 'application/cloudevents+json') return readStructured(parseJSON(body, 'The event'))
  if (contentType.startsWith('application/cloudevents')) {
    throw new Failure(
      'NotSupported',
      'This event format is not supported: send application/cloudevents+json.',
    )
  }
  const kind = readAttributes((name) => headers[`ce-${name}`])
  requireJSON(contentType)
  return readData(kind, parseJSON(body, 'The data of the event'))
}

function readStructured(event: unknown): ObjectRef {
  const kind = readAttributes((name) => member(event, name))
  const data = member(event, 'data')
  const encoded = member(event, 'data_base64')
  requireJSON(mediaType(member(event, 'datacontenttype')))
  if (encoded === undefined) return readData(kind, data)
  if (data !== undefined || typeof encoded !== 'string') {
    throw new Failure('InvalidSpec', 'The event needs either data or data_base64, which is a string.')
  }
  return readData(kind, parseJSON(Buffer.from(encoded, 'base64'), 'The data of the event'))
}

// The required context attributes of https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/spec.md
function readAttributes(attribute: (name: string) => unknown): Kind {
  if (attribute('specversion') !== '1.0') {
    throw new Failure('InvalidSpec', 'This is not a CloudEvent: the attribute specversion has to be 1.0.')
  }
  for (const name of ['id', 'source', 'type']) {
    const value = attribute(name)
    if (typeof value === 'string' && value !== '') continue
    throw new Failure('InvalidSpec', `The event has no ${name}, but a CloudEvent has to have one.`)
  }
  const type = attribute('type')
  if (type === APPLIED_TYPES.GitCommit) return 'GitCommit'
  if (type === APPLIED_TYPES.PullRequest) return 'PullRequest'
  const known = Object.values(APPLIED_TYPES).join(' or ')
  throw new Failure('InvalidSpec', `The type of the event is not known here, but has to be ${known}.`)
}

function readData(kind: Kind, data: unknown): ObjectRef {
  const ref = readRef(data, data)
  if (ref.kind === kind) return ref
  throw new Failure('InvalidSpec', `The type of the event speaks of a ${kind}, its data of a ${ref.kind}.`)
}

function readRef(typed: unknown, data: unknown): ObjectRef {
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

// Two spellings of one branch may differ here: the key only spares races, the push itself settles them.
function partitionKey(kind: Kind, spec: unknown): string {
  const repository = (textMember(spec, 'repository') ?? '').replace(/\.git$/, '')
  const branch = textMember(spec, kind === 'GitCommit' ? 'branch' : 'headBranch')
  return createHash('sha256')
    .update(JSON.stringify([repository, branch]))
    .digest('hex')
    .slice(0, 32)
}

function mediaType(header: unknown): string {
  return typeof header === 'string' ? (header.split(';')[0] ?? '').trim().toLowerCase() : ''
}

// An event without a content type has JSON data (CloudEvents JSON format, section 3.1).
function requireJSON(contentType: string): void {
  if (contentType === '' || /^[^/]+\/(.+\+)?json$/.test(contentType)) return
  throw new Failure('InvalidSpec', 'The data of the event has to be JSON, but its content type is another.')
}

function parseJSON(body: string | Uint8Array, what: string): unknown {
  try {
    return JSON.parse(
      typeof body === 'string' ? body : new TextDecoder('utf-8', { fatal: true }).decode(body),
    )
  } catch (cause) {
    throw new Failure('InvalidSpec', `${what} is not JSON, or was cut on its way.`, { cause })
  }
}
