import { createSecretKey, randomBytes } from 'node:crypto'
import { text } from 'node:stream/consumers'
import { connect } from 'node:tls'
import t from 'tap'
import { readConfig } from '../../webhook/config.ts'
import { buildWebhook } from '../../webhook/webhook.ts'
import { makeAuthority } from '../harness/certificates.ts'
import { memoryCluster } from '../harness/memory-cluster.ts'
import { call, gitCommit, recordingLog, reviewOf, startSink, writePair } from './stage.ts'

/** The whole webhook, signing, over a cluster that allows everything. It has to survive all that follows. */
const authority = await makeAuthority()
const sink = await startSink()
t.teardown(() => sink.close())
const { log, lines } = recordingLog()
const config = {
  ...readConfig({ PORT: '0', K_SINK: sink.url.href, SWEEP_INTERVAL: '0', SWEEP_FULL_INTERVAL: '0' }),
  tls: await writePair(t.testdir({}), authority),
  stampKey: createSecretKey(randomBytes(32)),
}
const cluster = memoryCluster()
const webhook = await buildWebhook(config, { cluster, log, uuid: () => 'event-1' })
const port = await webhook.listen('127.0.0.1')
t.teardown(() => webhook.drain(0))

const MIB = 1024 * 1024
const REVIEW = JSON.stringify(reviewOf(gitCommit()))

function levels(depth: number): string {
  return '{"a":'.repeat(depth) + '1' + '}'.repeat(depth)
}

/** The review with this JSON in place of the member. */
function having(key: string, json: string): string {
  const mark = JSON.stringify(`put ${key} here`)
  const request = key in gitCommit().spec || key === 'unknown' ? {} : { [key]: JSON.parse(mark) }
  const spec = key in request ? {} : { [key]: JSON.parse(mark) }
  return JSON.stringify(reviewOf(gitCommit({}, spec), request)).replace(mark, json)
}

function withObject(changes: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(reviewOf({ ...gitCommit(), ...changes }))
}

for (const [title, body] of [
  ['a truncated review', REVIEW.slice(0, -20)],
  ['a review of v1beta1', REVIEW.replace('admission.k8s.io/v1"', 'admission.k8s.io/v1beta1"')],
  ['45,000 levels', levels(45_000)],
  ['45,000 levels in the user', having('userInfo', levels(45_000))],
  ['45,000 levels in the kind', having('kind', levels(45_000))],
  ['a prototype in place of the review', `{"__proto__":${REVIEW}}`],
  ['a prototype in place of the request', REVIEW.replace('"request":', '"__proto__":')],
  ['a request that is null', '{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":null}'],
  ['a user that is null', having('userInfo', 'null')],
  ['a user that is a list', having('userInfo', '[{"username":"developer"}]')],
  ['a user without a name', having('userInfo', '{"username":"","groups":["system:masters"]}')],
  ['a user named by a number', having('userInfo', '{"username":0}')],
  ['an object that is text', having('object', '"x"')],
  ['an object with a prototype for metadata', having('object', '{"__proto__":{"metadata":{}}}')],
  ['a namespace of none', having('namespace', '""')],
] as const) {
  t.test(`${title} is refused with 4xx and one sentence`, async (t) => {
    for (const path of ['/mutate', '/validate']) {
      const { status, body: answer } = await call({ port, ca: authority.certPEM }, path, body)
      t.match(String(status), /^4(00|13)$/)
      t.match(answer, { kind: 'Status', status: 'Failure', message: /^[A-Z][^\n]*\.$/ })
      t.notMatch(answer.message, /\. [A-Z]|Error| at \//, 'one sentence')
    }
  })
}

for (const [title, body] of [
  ['45,000 levels in place of the spec', withObject({ spec: 'HERE' }).replace('"HERE"', levels(45_000))],
  ['45,000 levels in the message', having('message', levels(45_000))],
  ['45,000 levels in the reference', having('resourceRef', levels(45_000))],
  ['45,000 levels in the credentials', having('credentials', levels(45_000))],
  [
    'a spec in a prototype',
    withObject({ spec: JSON.parse(`{"__proto__":${JSON.stringify(gitCommit().spec)}}`) }),
  ],
  [
    'a reference in a prototype',
    having('resourceRef', '{"__proto__":{"apiVersion":"v1","kind":"ConfigMap"}}'),
  ],
  ['names of a constructor', having('resourceRef', '{"constructor":{"name":"x"},"toString":"x"}')],
  ['a kind of another version', withObject({ apiVersion: 'commitlet.dev/v2' })],
  ['no spec', withObject({ spec: undefined })],
  ['a list as spec', withObject({ spec: [] })],
] as const) {
  t.test(`${title} is denied`, async (t) => {
    for (const path of ['/mutate', '/validate']) {
      const { status, body: answer } = await call({ port, ca: authority.certPEM }, path, body)
      t.equal(status, 200)
      t.match(answer.response, { allowed: false, status: { code: 422, message: /\.$/ } })
      t.notMatch(answer.response.status.message, /Error| at \//)
    }
  })
}

for (const [title, body] of [
  ['45,000 levels in a field that nobody knows', having('unknown', levels(45_000))],
  [
    '45,000 levels in the groups',
    having('userInfo', `{"username":"developer","groups":[${levels(45_000)}]}`),
  ],
  ['45,000 levels in extra', having('userInfo', `{"username":"developer","extra":${levels(45_000)}}`)],
  ['45,000 levels before', having('oldObject', `{"metadata":{},"spec":${levels(45_000)}}`)],
  [
    'prototypes in the annotations',
    having('unknown', '{"__proto__":{"polluted":true}}').replace(
      '"metadata":{',
      '"metadata":{"annotations":{"__proto__":"x","constructor":"y"},',
    ),
  ],
  [
    'a user named __proto__',
    having('userInfo', '{"username":"__proto__","groups":["constructor"],"extra":{"__proto__":["x"]}}'),
  ],
] as const) {
  t.test(`${title}: an answer, and no crash`, async (t) => {
    const { status, body: answer } = await call({ port, ca: authority.certPEM }, '/mutate', body)
    t.equal(status, 200)
    t.type(answer.response.allowed, 'boolean')
    t.notOk('polluted' in {})
  })
}

t.test('a review that announces 8 MiB is refused before they come', async (t) => {
  const socket = connect({ port, ca: authority.certPEM, host: '127.0.0.1' })
  socket.write(`POST /validate HTTP/1.1\r\nhost: x\r\ncontent-length: ${8 * MIB}\r\n\r\n${REVIEW}`)
  t.match(await text(socket), /^HTTP\/1.1 413 [^]*"message":"The review is larger than 7 MiB/)
})

t.test('a sender that goes in the middle of a review leaves nothing behind', async (t) => {
  const socket = connect({ port, ca: authority.certPEM, host: '127.0.0.1' })
  const head = `POST /validate HTTP/1.1\r\nhost: x\r\ncontent-length: ${REVIEW.length + 10}\r\n\r\n`
  socket.end(head + REVIEW)
  t.match(await text(socket), /^(HTTP\/1.1 400|$)/)
})

t.test('after all that the process runs, and has logged no bug', async (t) => {
  const { status, body } = await call({ port, ca: authority.certPEM }, '/mutate', REVIEW)
  t.equal(status, 200)
  t.match(body.response, { allowed: true, patch: /./ })
  t.strictSame(
    lines.filter(({ level }) => Number(level) >= 50),
    [],
  )
  t.strictSame(
    lines.filter(({ reason }) => reason === 'Internal'),
    [],
  )
  t.strictSame(sink.received, [], 'nothing of it was announced')
})
