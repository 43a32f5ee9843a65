import t from 'tap'
import { readEvent } from '../../../functions/domain/event/cloud-event.ts'
import { appliedEvent } from '../../../functions/domain/event/applied-event.ts'
import { failureOf } from '../fixtures/thrown.ts'

const ID = '0a4f8c4e-6f0e-4c49-9d5b-0f6c1d1f7a11'
const UID = '3f0c0d6e-5a0b-4b43-8c5e-7a8b9c0d1e2f'

function gitCommit(spec: Readonly<Record<string, unknown>> = {}) {
  return {
    apiVersion: 'commitlet.dev/v1',
    kind: 'GitCommit',
    metadata: { namespace: 'shop', name: 'settings', uid: UID, generation: 3, labels: { a: 'b' } },
    spec: { repository: 'https://git.example.com/acme/shop.git', branch: 'main', message: 'x', ...spec },
  }
}

const DATA = {
  apiVersion: 'commitlet.dev/v1',
  kind: 'GitCommit',
  namespace: 'shop',
  name: 'settings',
  uid: UID,
  generation: 3,
}
const REF = { kind: 'GitCommit', namespace: 'shop', name: 'settings', uid: UID, generation: 3 }

function about(ref: object) {
  return [{ about: 'resource', ref }]
}

function binary(headers: Readonly<Record<string, string | undefined>> = {}) {
  return {
    'ce-specversion': '1.0',
    'ce-type': 'dev.commitlet.gitcommit.applied',
    'ce-source': '/apis/commitlet.dev/v1/namespaces/shop/gitcommits',
    'ce-id': ID,
    'content-type': 'application/json',
    ...headers,
  }
}

const STRUCTURED = { 'content-type': 'application/cloudevents+json; charset=utf-8' }

function structured(members: Readonly<Record<string, unknown>> = {}): string {
  const { attributes } = appliedEvent(gitCommit(), ID)
  return JSON.stringify({ ...attributes, data: DATA, ...members })
}

t.test('an applied resource becomes an event that names it and nothing of its spec', async (t) => {
  t.match(appliedEvent(gitCommit(), ID), {
    attributes: {
      specversion: '1.0',
      type: 'dev.commitlet.gitcommit.applied',
      source: '/apis/commitlet.dev/v1/namespaces/shop/gitcommits',
      id: ID,
      subject: 'shop/settings',
      datacontenttype: 'application/json',
      partitionkey: /^[0-9a-f]{32}$/,
    },
  })
  t.strictSame(appliedEvent(gitCommit(), ID).data, DATA)
})

t.test('a request does not change the generation: the event carries its digest', async (t) => {
  const metadata = { ...gitCommit().metadata, annotations: { 'commitlet.dev/requested-at': 'now' } }
  const { data } = appliedEvent({ ...gitCommit(), metadata }, ID)
  t.strictSame(data, { ...DATA, request: 'ed5eb9a3' })
  t.strictSame(readEvent(binary(), JSON.stringify(data)), about({ ...REF, request: 'ed5eb9a3' }))
  const empty = { ...metadata, annotations: { 'commitlet.dev/requested-at': '' } }
  t.strictSame(appliedEvent({ ...gitCommit(), metadata: empty }, ID).data, DATA, 'an empty one is none')
})

t.test('a pull request has its own type and the partition of its head branch', async (t) => {
  const spec = { repository: 'https://git.example.com/acme/shop', headBranch: 'main', baseBranch: 'stable' }
  const event = appliedEvent({ ...gitCommit(), kind: 'PullRequest', spec }, ID)
  t.equal(event.attributes['type'], 'dev.commitlet.pullrequest.applied')
  t.equal(event.attributes['source'], '/apis/commitlet.dev/v1/namespaces/shop/pullrequests')
  t.equal(event.attributes['partitionkey'], appliedEvent(gitCommit(), ID).attributes['partitionkey'])
})

t.test('the partition key is that of repository and branch', async (t) => {
  const key = (spec: Readonly<Record<string, unknown>>) =>
    appliedEvent(gitCommit(spec), ID).attributes['partitionkey']
  t.equal(
    key({ repository: 'https://git.example.com/acme/shop' }),
    key({ message: 'another' }),
    'same branch',
  )
  t.not(key({ branch: 'other' }), key({}), 'another branch')
  t.not(key({ branch: undefined }), key({}), 'the default branch')
  t.not(key({ repository: 'https://git.example.com/acme/shop2' }), key({}), 'another repository')
})

for (const [title, resource] of Object.entries({
  'something else': { kind: 'ConfigMap', apiVersion: 'v1', metadata: gitCommit().metadata },
  'a resource without a uid': { ...gitCommit(), metadata: { ...gitCommit().metadata, uid: undefined } },
  'a resource without a generation': { ...gitCommit(), metadata: { namespace: 'a', name: 'b', uid: UID } },
  'no metadata': { apiVersion: 'commitlet.dev/v1', kind: 'GitCommit' },
  nothing: undefined,
})) {
  t.test(`no event is made of ${title}`, async (t) => {
    t.equal(failureOf(() => appliedEvent(resource, ID)).reason, 'InvalidSpec')
  })
}

for (const [title, headers, body] of [
  ['binary mode', binary(), JSON.stringify(DATA)],
  ['binary mode as bytes', binary(), Buffer.from(JSON.stringify(DATA))],
  ['binary mode without a content type', binary({ 'content-type': undefined }), JSON.stringify(DATA)],
  ['binary mode with a JSON suffix', binary({ 'content-type': 'text/x+json' }), JSON.stringify(DATA)],
  ['structured mode', STRUCTURED, structured()],
  ['structured mode with base64', STRUCTURED, structured({ data: undefined, data_base64: base64(DATA) })],
  ['structured mode without a content type', STRUCTURED, structured({ datacontenttype: undefined })],
] as const) {
  t.test(`an event is read in ${title}`, async (t) => {
    t.strictSame(readEvent(headers, body), about(REF))
  })
}

t.test('a sender may not know uid and generation', async (t) => {
  const { apiVersion, kind, namespace, name } = DATA
  const data = JSON.stringify({ apiVersion, kind, namespace, name })
  t.strictSame(readEvent(binary(), data), about({ kind, namespace, name }))
})

t.test('an event about a pull request names a pull request', async (t) => {
  const headers = binary({ 'ce-type': 'dev.commitlet.pullrequest.applied' })
  const hints = readEvent(headers, JSON.stringify({ ...DATA, kind: 'PullRequest' }))
  t.strictSame(hints, about({ ...REF, kind: 'PullRequest' }))
})

const DEEP = '['.repeat(900) + ']'.repeat(900)

for (const [title, headers, body, message] of [
  ['a request without attributes', {}, '{}', /specversion has to be 1.0/],
  ['version 0.3', binary({ 'ce-specversion': '0.3' }), '{}', /specversion has to be 1.0/],
  ['no id', binary({ 'ce-id': '' }), '{}', /has no id/],
  ['no source', binary({ 'ce-source': undefined }), '{}', /has no source/],
  ['no type', binary({ 'ce-type': undefined }), '{}', /has no type/],
  ['an unknown type', binary({ 'ce-type': 'toString' }), '{}', /type of the event is unknown/],
  ['data that is no JSON', binary({ 'content-type': 'text/xml' }), '<a/>', /has to be JSON/],
  ['cut data', binary(), JSON.stringify(DATA).slice(0, 40), /cut on its way/],
  ['broken UTF-8', binary(), Buffer.from([0x22, 0xff, 0x22]), /cut on its way/],
  ['no data', binary(), '', /cut on its way/],
  ['data of another shape', binary(), '[]', /GitCommit or PullRequest/],
  ['another API version', binary(), JSON.stringify({ ...DATA, apiVersion: 'v1' }), /commitlet.dev\/v1/],
  [
    'type and data that differ',
    binary(),
    JSON.stringify({ ...DATA, kind: 'PullRequest' }),
    /GitCommit, but its data/,
  ],
  ['a name that leaves its path', binary(), JSON.stringify({ ...DATA, name: '../x' }), /The name that/],
  ['a name that is too long', binary(), JSON.stringify({ ...DATA, name: 'a'.repeat(254) }), /The name that/],
  ['a name that is no text', binary(), JSON.stringify({ ...DATA, name: 7 }), /The name that/],
  ['an empty namespace', binary(), JSON.stringify({ ...DATA, namespace: '' }), /The namespace that/],
  ['a uid that is no text', binary(), JSON.stringify({ ...DATA, uid: {} }), /The uid that/],
  ['generation 0', binary(), JSON.stringify({ ...DATA, generation: 0 }), /The generation that/],
  ['a request that is no digest', binary(), JSON.stringify({ ...DATA, request: 'now' }), /The request that/],
  ['a generation as text', binary(), JSON.stringify({ ...DATA, generation: '3' }), /The generation that/],
  ['prototype keys', binary(), `{"__proto__": ${JSON.stringify(DATA)}}`, /GitCommit or PullRequest/],
  ['a structured cut one', STRUCTURED, structured().slice(0, 90), /cut on its way/],
  ['a structured list', STRUCTURED, '[]', /specversion/],
  ['a structured prototype', STRUCTURED, `{"__proto__": ${structured()}}`, /specversion/],
  ['both sorts of data', STRUCTURED, structured({ data_base64: 'e30=' }), /either data or data_base64/],
  ['base64 that is a number', STRUCTURED, structured({ data: undefined, data_base64: 7 }), /data_base64/],
  ['structured XML data', STRUCTURED, structured({ datacontenttype: 'text/xml' }), /has to be JSON/],
  ['data of 900 levels', binary(), DEEP, /GitCommit or PullRequest/],
  ['a structured event of 900 levels', STRUCTURED, `{"specversion": ${DEEP}}`, /specversion/],
  ['8 MiB', binary(), JSON.stringify('x'.repeat(8 * 1024 * 1024)), /GitCommit or PullRequest/],
] as const) {
  t.test(`one sentence refuses ${title}`, async (t) => {
    const failure = failureOf(() => readEvent(headers, body))
    t.equal(failure.reason, 'InvalidSpec')
    t.match(failure.message, message)
    t.match(failure.message, /^[A-Z].*\.$/)
    t.notMatch(failure.message, /\. /, 'one sentence')
  })
}

t.test('another event format is refused by name', async (t) => {
  const failure = failureOf(() => readEvent({ 'content-type': 'application/cloudevents+avro' }, '[]'))
  t.match(failure, { reason: 'NotSupported', message: /send application\/cloudevents\+json/ })
})

t.test('a dead letter of a Broker is read as the event that it was', async (t) => {
  const headers = binary({
    'ce-knativeerrordest': 'http://commitlet-function.commitlet-system.svc.cluster.local',
    'ce-knativeerrorcode': '503',
    'ce-knativeerrordata': 'VG9vIG1hbnkgZXZlbnRz',
  })
  t.strictSame(readEvent(headers, JSON.stringify(DATA)), about(REF))
})

function base64(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64')
}

for (const [title, data] of [
  ['100,001 values', `[${'0,'.repeat(100_000)}0]`],
  ['1,001 levels', `${'['.repeat(1_001)}${']'.repeat(1_001)}`],
] as const) {
  t.test(`an event with ${title} is refused before it is parsed`, async (t) => {
    const refused = { reason: 'InvalidSpec', message: /100,000 values.*1,000 levels/ }
    t.throws(() => readEvent({ 'content-type': 'application/cloudevents+json' }, data), refused)
    t.throws(() => readEvent({ 'content-type': 'application/cloudevents+json' }, Buffer.from(data)), refused)
  })
}

t.test('the partition key is that of the branch with its names', async (t) => {
  const files = [{ path: 'a', content: 'b' }]
  const keyOf = (branch: string, more = {}) => {
    const resource = gitCommit({ repository: 'https://git.example.com/a/b', branch, ...more })
    return appliedEvent(resource, ID).attributes['partitionkey']
  }
  t.equal(keyOf('of/{namespace}', { files }), keyOf('of/shop'))
  t.not(keyOf('of/{namespace}'), keyOf('of/shop'))
})
