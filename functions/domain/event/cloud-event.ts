import { Failure } from '../failure.ts'
import { member } from '../json-value.ts'
import type { Kind, ObjectRef } from '../resource/resource.ts'
import { countParts } from '../network/json-parts.ts'
import { readRef } from './object-ref.ts'

import { APPLIED_TYPES } from './applied-event.ts'

/**
 * Reads the reference from an event in binary or structured mode (CloudEvents 1.0, HTTP protocol binding).
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
  throw new Failure('InvalidSpec', `The type of the event is unknown, but has to be ${known}.`)
}

function readData(kind: Kind, data: unknown): ObjectRef {
  const ref = readRef(data, data)
  if (ref.kind === kind) return ref
  throw new Failure('InvalidSpec', `The type of the event names a ${kind}, but its data a ${ref.kind}.`)
}

function mediaType(header: unknown): string {
  return typeof header === 'string' ? (header.split(';')[0] ?? '').trim().toLowerCase() : ''
}

// An event without a content type has JSON data (CloudEvents JSON format, section 3.1).
function requireJSON(contentType: string): void {
  if (contentType === '' || /^[^/]+\/(.+\+)?json$/.test(contentType)) return
  throw new Failure('InvalidSpec', 'The data of the event has to be JSON, but it has another content type.')
}

/** An event with a whole object has some thousands. Parsing ten times as many would block the process for 0.4 s. */
const BOUNDS = { parts: 100_000, depth: 1_000 }

function parseJSON(body: string | Uint8Array, what: string): unknown {
  try {
    const text = typeof body === 'string' ? body : new TextDecoder('utf-8', { fatal: true }).decode(body)
    if (countParts(text, BOUNDS) !== undefined) return JSON.parse(text)
  } catch (cause) {
    throw new Failure('InvalidSpec', `${what} is not JSON, or was cut on its way.`, { cause })
  }
  throw new Failure('InvalidSpec', `${what} has more than 100,000 values, or more than 1,000 levels.`)
}
