import { Failure } from '../failure.ts'
import { member } from '../json-value.ts'
import { readReferenceEvent, REFERENCE_TYPES } from './api-server-reference.ts'
import { readResourceEvent, RESOURCE_TYPES } from './api-server-resource.ts'
import { APPLIED_TYPES } from './applied-event.ts'
import { parseJSON } from './bounded-json.ts'
import type { Hint } from './hint.ts'
import { PING_TYPE, readPing } from './ping.ts'
import { readAppliedEvent } from './webhook-event.ts'

/** What reads the data of an event of this type. Throws InvalidSpec, one sentence. */
type ReadData = (data: unknown, type: string) => readonly Hint[]

/** The readers by the type of the event. A dead letter of a Broker has the type of the event that it was. */
const READERS: ReadonlyMap<string, ReadData> = new Map<string, ReadData>([
  ...Object.values(APPLIED_TYPES).map((type) => [type, readAppliedEvent] as const),
  ...RESOURCE_TYPES.map((type) => [type, readResourceEvent] as const),
  ...REFERENCE_TYPES.map((type) => [type, readReferenceEvent] as const),
  [PING_TYPE, readPing],
])

type Attribute = (name: string) => unknown

/** Header fields by their lower-case names, as node:http has them. */
export type Headers = Readonly<Record<string, unknown>>

const STRUCTURED = 'application/cloudevents+json'

/**
 * Reads one event in binary or structured mode (CloudEvents 1.0, HTTP protocol binding). Throws InvalidSpec, one sentence,
 * for anything else, and NotSupported for an event format that is not JSON.
 */
export function readEvent(headers: Headers, body: string | Uint8Array): readonly Hint[] {
  const contentType = mediaType(headers['content-type'])
  if (contentType === STRUCTURED) return readStructured(parseJSON(body, 'The event'))
  if (contentType.startsWith('application/cloudevents')) {
    throw new Failure('NotSupported', `This event format is not supported: send ${STRUCTURED}.`)
  }
  return readBinary(headers, body)
}

function readBinary(headers: Headers, body: string | Uint8Array): readonly Hint[] {
  const { type, read } = readerFor((name) => headers[`ce-${name}`])
  // The job of a PingSource may have no data, or data that is no JSON.
  if (type === PING_TYPE) return read(undefined, type)
  requireJSON(mediaType(headers['content-type']))
  return read(parseJSON(body, 'The data of the event'), type)
}

/** Reads an event in the JSON format (CloudEvents 1.0), after its JSON was parsed. Throws InvalidSpec for anything else. */
export function readStructured(event: unknown): readonly Hint[] {
  const { type, read } = readerFor((name) => member(event, name))
  if (type === PING_TYPE) return read(undefined, type)
  const data = member(event, 'data')
  const encoded = member(event, 'data_base64')
  requireJSON(mediaType(member(event, 'datacontenttype')))
  if (encoded === undefined) return read(data, type)
  if (data !== undefined || typeof encoded !== 'string') {
    throw new Failure('InvalidSpec', 'The event needs either data or data_base64, which is a string.')
  }
  return read(parseJSON(Buffer.from(encoded, 'base64'), 'The data of the event'), type)
}

/** The media type of a header, without parameters and in lower case; empty where there is none. */
export function mediaType(header: unknown): string {
  return typeof header === 'string' ? (header.split(';')[0] ?? '').trim().toLowerCase() : ''
}

// The required context attributes of https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/spec.md
function readerFor(attribute: Attribute): { readonly type: string; readonly read: ReadData } {
  if (attribute('specversion') !== '1.0') {
    throw new Failure('InvalidSpec', 'This is not a CloudEvent: the attribute specversion has to be 1.0.')
  }
  for (const name of ['id', 'source', 'type']) {
    const value = attribute(name)
    if (typeof value === 'string' && value !== '') continue
    throw new Failure('InvalidSpec', `The event has no ${name}, but a CloudEvent has to have one.`)
  }
  const type = String(attribute('type'))
  const read = READERS.get(type)
  if (read !== undefined) return { type, read }
  throw new Failure(
    'InvalidSpec',
    `The type of the event is unknown, but has to be one of ${[...READERS.keys()].join(', ')}.`,
  )
}

// An event without a content type has JSON data (CloudEvents JSON format, section 3.1).
function requireJSON(contentType: string): void {
  if (contentType === '' || /^[^/]+\/(.+\+)?json$/.test(contentType)) return
  throw new Failure('InvalidSpec', 'The data of the event has to be JSON, but it has another content type.')
}
