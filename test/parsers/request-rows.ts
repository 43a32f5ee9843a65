import { readAuditEvent } from '../../functions/domain/event/audit-event.ts'
import { parseCounted } from '../../functions/domain/event/bounded-json.ts'
import { readEvent } from '../../functions/domain/event/cloud-event.ts'
import { makeScan } from '../../functions/domain/event/json-elements.ts'
import { countParts } from '../../functions/domain/network/json-parts.ts'
import { parse } from '../../functions/domain/schema/parse.ts'
import { isNewRequest } from '../../functions/domain/requester/stamp.ts'
import { namespaceIn } from '../../webhook/admission/review-namespace.ts'
import { readReview } from '../../webhook/admission/review.ts'
import { objectOf, textRow } from './row.ts'
import type { ParserRow } from './row.ts'

const KIBI = 1024
const MEBI = 1024 * KIBI
const CE = {
  'ce-specversion': '1.0',
  'ce-id': 'a',
  'ce-source': 'b',
  'ce-type': 'dev.commitlet.gitcommit.applied',
  'content-type': 'application/json',
}

const KNATIVE = { ...CE, 'ce-type': 'dev.knative.apiserver.resource.update' }

function resource(spec: unknown) {
  return { apiVersion: 'commitlet.dev/v1', kind: 'GitCommit', metadata: { name: 'a' }, spec }
}

function review(request: object): string {
  const kind = { group: 'commitlet.dev', version: 'v1', kind: 'GitCommit' }
  const whole = { uid: 'a', namespace: 'b', name: 'a', kind, userInfo: { username: 'a' }, ...request }
  return JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request: whole })
}

/** What the webhook does before it waits for the API server. */
function judged(text: string): unknown {
  if (countParts(text, { parts: 50_000 }) === undefined) return undefined
  const { object, application } = readReview(JSON.parse(text))
  return [isNewRequest(application), parse(object)]
}

/** Where the elements of a list are; reading it, this is done in parts. */
function scanned(text: string, key?: string): unknown {
  const scan = makeScan(Buffer.from(text), key)
  scan.read(Infinity)
  return scan.found()
}

function audited(text: string): unknown {
  const event = parseCounted(text, 'The event')
  return event && readAuditEvent(event.value)
}

const STORED = '"stage":"ResponseComplete","verb":"create","responseStatus":{"code":201}'

/** What is posted to the two programs. */
export const REQUEST_ROWS: readonly ParserRow[] = [
  textRow({
    parser: 'CloudEvent',
    largest: 3 * MEBI,
    read: (body) => readEvent(CE, body),
    texts: {
      lists: ['', '[', ''],
      members: ['{', '"a":1,', '"b":1}'],
      numbers: ['[', '1,', '1]'],
      'empty objects': ['[', '{},', '1]'],
      escapes: ['"', '\\u0000', '"'],
      letters: ['{"namespace":"', 'a.', '"}'],
    },
  }),
  {
    parser: 'CloudEvent with many fields',
    largest: 99_990,
    unit: 'fields',
    shapes: {
      fields: (size) => {
        const body = Buffer.from(JSON.stringify(objectOf(size)))
        return () => readEvent(CE, body)
      },
    },
  },
  textRow({
    parser: 'CloudEvent in structured mode',
    largest: 3 * MEBI,
    read: (body) => readEvent({ 'content-type': 'application/cloudevents+json' }, body),
    texts: {
      base64: [
        '{"specversion":"1.0","id":"a","source":"b","type":"dev.commitlet.gitcommit.applied","data_base64":"',
        'W1tb',
        '"}',
      ],
    },
  }),
  textRow({
    parser: 'CloudEvent of an ApiServerSource',
    largest: 3 * MEBI,
    read: (body) => readEvent(KNATIVE, body),
    texts: {
      letters: ['{"metadata":{"name":"', 'a.', '"}}'],
      requests: ['{"metadata":{"name":"a","annotations":{"commitlet.dev/requested-at":"', 'a', '"}}}'],
      labels: ['{"metadata":{"name":"a","labels":{', '"a":"b",', '"c":"d"}}}'],
    },
  }),
  textRow({
    parser: 'batch of CloudEvents, searched for its events',
    largest: 3 * MEBI,
    read: (text) => scanned(text),
    texts: {
      events: ['[', '{},', '{}]'],
      lists: ['[', '[', ''],
      'a string': ['["', '\\"', '"]'],
      strings: ['[["', '","', '"]]'],
      blanks: ['[', ' ', ']'],
      'lists one after the other': ['', '[ ]', ''],
    },
  }),
  textRow({
    parser: 'list of audit events, searched for its events',
    largest: 10 * MEBI,
    read: (text) => scanned(text, 'items'),
    texts: {
      letters: ['{"items":[{"a":"', 'a', '"}]}'],
      escapes: ['{"items":[{"a":"', '\\"', '"}]}'],
      objects: ['{"items":[[', '{"a":1},', '1]]}'],
      lists: ['{"items":[', '[', ''],
      'lists of lists': ['{', '"items":[],', '"a":1}'],
      blanks: ['{"items"', ' ', ':[]}'],
      'blanks before lists': ['{"items":', '   [', ''],
      strings: ['{"items":[[', '"",', '1]]}'],
    },
  }),
  textRow({
    parser: 'audit event',
    largest: 4 * MEBI,
    read: audited,
    texts: {
      'parameters of its request': [`{${STORED},"requestURI":"/a?`, 'a&', '"}'],
      'a name': [`{${STORED},"objectRef":{"resource":"secrets","name":"`, 'a.', '"}}'],
      values: [
        `{${STORED},"responseObject":{"spec":[`,
        '"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",',
        '1]}}',
      ],
      escapes: [`{${STORED},"responseObject":{"spec":"`, '\\u0000', '"}}'],
    },
  }),
  textRow({
    parser: 'content type of an event',
    largest: 16 * KIBI,
    read: (type) => readEvent({ ...CE, 'content-type': type }, '{}'),
    texts: { plus: ['a/', '+', 'x'], slashes: ['', 'a/', ''], parameters: ['a/json', ';', ''] },
  }),
  textRow({
    parser: 'size of JSON',
    largest: 7 * MEBI,
    read: (text) => countParts(text, { parts: 50_000, depth: 1000 }),
    texts: {
      strings: ['', '"",', ''],
      escapes: ['"', '\\"', ''],
      letters: ['"', 'a', '"'],
      lists: ['', '[],', ''],
    },
  }),
  textRow({
    parser: 'namespace of a review',
    largest: 16 * 1024,
    read: namespaceIn,
    texts: {
      members: ['{"request":{', '"":[{}],', '"namespace":"b"}}'],
      strings: ['{"request":{"a":"', '\\"', '","namespace":"b"}}'],
      backslashes: ['{"request":{"a":"', '\\', '","namespace":"b"}}'],
      blanks: ['{"request":', ' ', '{"namespace":"b"}}'],
      lists: ['{"a":', '[', ''],
    },
  }),
  {
    parser: 'review',
    largest: 49_900,
    unit: 'fields',
    shapes: {
      'a new resource': (size) => {
        const text = review({ operation: 'CREATE', object: resource(objectOf(size)) })
        return () => judged(text)
      },
      'a changed resource': (size) => {
        const object = resource(objectOf(size / 2))
        const text = review({ operation: 'UPDATE', object, oldObject: object })
        return () => judged(text)
      },
      'a user with groups': (size) => {
        const groups = Array.from({ length: size }, (_, i) => `group-${i}`)
        const text = review({
          operation: 'CREATE',
          object: resource({}),
          userInfo: { username: 'a', groups },
        })
        return () => judged(text)
      },
    },
  },
  {
    parser: 'fields that a release does not know',
    largest: 50_000,
    unit: 'fields',
    shapes: {
      spec: (size) => {
        const value = resource(objectOf(size))
        return () => parse(value)
      },
      'a list of objects': (size) => {
        const value = resource({
          labels: Array.from({ length: size }, () => ({})),
          message: Array.from({ length: size }, () => 1),
        })
        return () => parse(value)
      },
    },
  },
]
