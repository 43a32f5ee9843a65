import { readEvent } from '../../functions/domain/event/cloud-event.ts'
import { countParts } from '../../functions/domain/network/json-parts.ts'
import { parse } from '../../functions/domain/schema/parse.ts'
import { isNewRequest } from '../../functions/domain/requester/stamp.ts'
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
