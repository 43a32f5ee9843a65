import { createSecretKey } from 'node:crypto'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import http from 'node:http'
import type { OutgoingHttpHeaders } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import pino from 'pino'
import t from 'tap'
import type { Test } from 'tap'
import { buildApp, type AppOptions } from '../functions/app.ts'
import { NO_SEARCH } from '../functions/arrival/arrivals.ts'
import type { Handle } from '../functions/arrival/in-hand.ts'
import type { Timing } from '../functions/domain/incoming/timing.ts'
import { TIMING } from '../functions/net/timing.ts'
import { traceSignature } from '../functions/domain/event/sender-signature.ts'
import { Failure } from '../functions/domain/failure.ts'
import type { ObjectRef } from '../functions/domain/resource/resource.ts'
import { traceparentOf } from '../functions/domain/telemetry/trace-context.ts'
import { waitFor } from './harness/wait.ts'

const DATA = {
  apiVersion: 'commitlet.dev/v1',
  kind: 'GitCommit',
  namespace: 'team',
  name: 'shop',
  uid: '3f0c0d6e-5a0b-4b43-8c5e-7a8b9c0d1e2f',
  generation: 2,
}
/** The same as the API server stores it. */
const KNOWN = {
  apiVersion: DATA.apiVersion,
  kind: DATA.kind,
  metadata: { namespace: DATA.namespace, name: DATA.name, uid: DATA.uid, generation: DATA.generation },
}
const REF = { kind: 'GitCommit', namespace: 'team', name: 'shop', uid: DATA.uid, generation: 2 }
const ATTRIBUTES = {
  specversion: '1.0',
  id: '1',
  source: '/apis/commitlet.dev/v1',
  type: 'dev.commitlet.gitcommit.applied',
}
const BINARY = {
  'content-type': 'application/json',
  ...Object.fromEntries(Object.entries(ATTRIBUTES).map(([name, value]) => [`ce-${name}`, value])),
}
const STRUCTURED = { 'content-type': 'application/cloudevents+json; charset=utf-8' }
const BODY = JSON.stringify(DATA)
const MIB = 1024 * 1024

interface Answer {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly body: string
}

/** The app on a free port of 127.0.0.1, with what it handled and what it logged. */
async function start(t: Test, handle: Handle = () => Promise.resolve(), options: AppOptions = {}) {
  const handled: ObjectRef[] = []
  const logged: string[] = []
  const log = pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) })
  const app = buildApp(
    (ref, sender) => {
      handled.push(ref)
      return handle(ref, sender)
    },
    log,
    options,
  )
  t.teardown(() => app.close())
  const port = Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port)
  return { app, port, handled, logged }
}

async function send(port: number, options: http.RequestOptions, body = ''): Promise<Answer> {
  const request = http.request({ host: '127.0.0.1', port, agent: false, method: 'POST', ...options })
  request.end(body)
  const [response] = (await once(request, 'response')) as [http.IncomingMessage]
  return { status: response.statusCode ?? 0, headers: response.headers, body: await text(response) }
}

for (const [mode, headers, body] of [
  ['binary', BINARY, BODY],
  ['structured', STRUCTURED, JSON.stringify({ ...ATTRIBUTES, data: DATA })],
  [
    'structured and base64',
    STRUCTURED,
    JSON.stringify({ ...ATTRIBUTES, data_base64: Buffer.from(BODY).toString('base64') }),
  ],
  ['binary of just below 3 MiB', BINARY, BODY.replace('{', `{"more":"${'x'.repeat(2.9 * MIB)}",`)],
] as const) {
  t.test(`a ${mode} event is handled and answered with 202 and nothing in the body`, async (t) => {
    const { port, handled } = await start(t)
    const { status, body: answer } = await send(port, { headers }, body)
    t.equal(status, 202)
    t.equal(answer, '')
    t.strictSame(handled, [REF])
  })
}

t.test('an ApiServerSource, which sends one event after the other, waits for no attempt', async (t) => {
  const { promise: finished, resolve: finish } = Promise.withResolvers<undefined>()
  const { port, handled } = await start(t, () => finished)
  for (const type of ['dev.knative.apiserver.resource.update', 'dev.knative.apiserver.ref.update']) {
    const { apiVersion, kind, namespace, name } = DATA
    const data = type.includes('.ref.') ? { apiVersion, kind, namespace, name } : KNOWN
    const { status } = await send(port, { headers: { ...BINARY, 'ce-type': type } }, JSON.stringify(data))
    t.equal(status, 202)
  }
  t.equal(handled.length, 2)
  finish(undefined)
})

/** Audit events of an API server, with so many bytes in all, that name `shop` again and again. */
function auditList(bytes: number): string {
  const objectRef = { resource: 'gitcommits', namespace: 'team', name: 'shop', apiGroup: 'commitlet.dev' }
  const event = { stage: 'ResponseComplete', verb: 'create', objectRef, responseStatus: { code: 201 } }
  const [start = '', end = ''] = JSON.stringify({
    kind: 'EventList',
    apiVersion: 'audit.k8s.io/v1',
    items: [0],
  }).split('0')
  const one = JSON.stringify({ ...event, requestObject: 'x'.repeat(20_000) })
  const items = `${one},`.repeat(Math.floor((bytes - 25_000) / (one.length + 1)))
  const last = JSON.stringify({ ...event, requestObject: '' })
  const missing = bytes - start.length - items.length - last.length - end.length
  return `${start}${items}${last.replace('""', `"${'x'.repeat(missing)}"`)}${end}`
}

const JSON_TYPE = { 'content-type': 'application/json' }
const AUDITED = { kind: 'GitCommit', namespace: 'team', name: 'shop' }

t.test('a list of audit events of 10 MiB is read, and each resource in it is handled once', async (t) => {
  const { port, handled } = await start(t)
  t.match(await send(port, { headers: JSON_TYPE }, auditList(10 * MIB)), { status: 202, body: '' })
  t.strictSame(handled, [AUDITED])
})

t.test('a list of more than 10 MiB is refused before it comes', async (t) => {
  const { port, handled } = await start(t)
  const socket = connect({ port, host: '127.0.0.1' })
  const head = 'POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n'
  socket.write(`${head}content-length: ${10 * MIB + 1}\r\n\r\n`)
  t.match(await text(socket), /^HTTP\/1.1 400 [^]*more than 10 MiB/)
  t.strictSame(handled, [])
})

t.test(
  'the events of a batch are handled; one of which nothing can be written makes it come again',
  async (t) => {
    const failing = new Set<string>()
    const { port, handled } = await start(t, ({ name }) =>
      failing.has(name) ? Promise.reject(new Failure('NetworkError', 'No.')) : Promise.resolve(),
    )
    const headers = { 'content-type': 'application/cloudevents-batch+json' }
    const batch = JSON.stringify(['a', 'b'].map((name) => ({ ...ATTRIBUTES, data: { ...DATA, name } })))
    t.match(await send(port, { headers }, batch), { status: 202, body: '' })
    t.strictSame(
      handled.map(({ name }) => name),
      ['a', 'b'],
    )
    failing.add('b')
    const { status, headers: answered } = await send(port, { headers }, batch)
    t.equal(status, 503)
    t.match(answered['retry-after'], /^[1-9]/)
  },
)

t.test('a ping sweeps, and an event about another object asks who waits for it', async (t) => {
  const asked: unknown[] = []
  const searches = {
    sweep: async () => void asked.push('sweep'),
    lookFor(objects: unknown, _begin: unknown, sender: unknown) {
      asked.push(objects, sender)
      return NO_SEARCH
    },
  }
  const { port, handled } = await start(t, undefined, { searches })
  const of = (type: string) => ({ headers: { ...BINARY, 'ce-type': `dev.knative.${type}` } })
  t.match(await send(port, of('sources.ping'), ''), { status: 202, body: '' })
  const secret = JSON.stringify({ apiVersion: 'v1', kind: 'Secret', namespace: 'team', name: 'git' })
  t.match(await send(port, of('apiserver.ref.update'), secret), { status: 202, body: '' })
  t.strictSame(asked, ['sweep', { namespace: 'team', names: ['git'] }, 'anybody'])
  t.strictSame(handled, [])
})

const DEEP = '['.repeat(100_000) + ']'.repeat(100_000)

const REFUSED: readonly (readonly [string, OutgoingHttpHeaders, string, RegExp])[] = [
  ['nothing at all', {}, '', /not a CloudEvent/],
  ['JSON that is no event', { 'content-type': 'application/json' }, BODY, /not a CloudEvent/],
  ['a form', { 'content-type': 'application/x-www-form-urlencoded' }, 'a=b', /not a CloudEvent/],
  ['an event without a type', { ...BINARY, 'ce-type': '' }, BODY, /has no type/],
  ['an event of another type', { ...BINARY, 'ce-type': 'com.example.sold' }, BODY, /type .* is unknown/],
  [
    'an event of another kind than its type says',
    BINARY,
    BODY.replace('GitCommit', 'PullRequest'),
    /names a GitCommit/,
  ],
  ['an event without data', BINARY, '', /not JSON, or was cut/],
  ['a truncated event', BINARY, BODY.slice(0, 60), /not JSON, or was cut/],
  ['a truncated structured event', STRUCTURED, `{"specversion":"1.0","id":`, /not JSON, or was cut/],
  ['data that is no UTF-8 JSON', { ...BINARY, 'content-type': 'text/plain' }, BODY, /has to be JSON/],
  ['an event of more than 3 MiB', BINARY, BODY + ' '.repeat(3 * MIB), /too large/],
  [
    'a batch that is no list',
    { 'content-type': 'application/cloudevents-batch+json' },
    '{}',
    /has to be a list/,
  ],
  ['another event format', { 'content-type': 'application/cloudevents+avro' }, 'x', /not supported/],
  ['no media type', { ...BINARY, 'content-type': '/' }, BODY, /./],
  ['data that stands in a prototype', BINARY, `{"__proto__":${BODY}}`, /has to name a GitCommit/],
  ['attributes that stand in a prototype', STRUCTURED, `{"__proto__":${BODY}}`, /not a CloudEvent/],
  ['100,000 levels', BINARY, DEEP, /1,000 levels/],
  ['100,000 levels where a name is due', BINARY, BODY.replace('"shop"', DEEP), /1,000 levels/],
  ['100,000 levels in a structured event', STRUCTURED, `{"specversion":${DEEP}}`, /1,000 levels/],
  [
    '100,000 levels in its data',
    STRUCTURED,
    JSON.stringify({ ...ATTRIBUTES, data: 0 }).replace(':0', `:${DEEP}`),
    /./,
  ],
  ['names of a constructor', BINARY, '{"constructor":{"name":"x"},"toString":1}', /has to name a GitCommit/],
  ['a later version of events', { ...BINARY, 'ce-specversion': '2.0' }, BODY, /specversion has to be 1\.0/],
  ['a generation that is text', BINARY, BODY.replace('"generation":2', '"generation":"2"'), /./],
  ['a name that climbs', BINARY, BODY.replace('"shop"', '"../secrets/git"'), /has to be a name/],
]

for (const [what, headers, body, message] of REFUSED) {
  t.test(`${what} is refused with 400 and one sentence`, async (t) => {
    const { port, handled } = await start(t)
    const answer = await send(port, { headers }, body)
    t.equal(answer.status, 400)
    t.match(JSON.parse(answer.body), { error: message })
    t.notMatch(answer.body, /\n|node_modules| at \//)
    t.strictSame(handled, [])
    t.notOk('apiVersion' in {}, 'no prototype has changed')
  })
}

t.test('the server does not load the compilers of schemas, which a bundle does not have', (t) => {
  buildApp(() => Promise.resolve(), pino({ level: 'silent' }))
  const loaded = Object.keys(createRequire(import.meta.url).cache)
  t.ok(loaded.some((file) => file.includes('/node_modules/fastify/')))
  t.strictSame(
    loaded.filter((file) => /\/(ajv-compiler|fast-json-stringify-compiler|light-my-request)\//.test(file)),
    [],
  )
  t.end()
})

t.test('a sender that goes in the middle of an event leaves nothing behind', async (t) => {
  const { port, handled } = await start(t)
  const socket = connect({ port, host: '127.0.0.1' })
  socket.end(`POST / HTTP/1.1\r\nhost: x\r\nce-specversion: 1.0\r\ncontent-length: 400\r\n\r\n${BODY}`)
  await text(socket)
  t.equal((await send(port, { headers: BINARY }, BODY)).status, 202)
  t.equal(handled.length, 1)
})

t.test('an event that announces 8 MiB is refused before they come', async (t) => {
  const { port, handled } = await start(t)
  const socket = connect({ port, host: '127.0.0.1' })
  socket.write(`POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${8 * MIB}\r\n\r\n${BODY}`)
  t.match(await text(socket), /^HTTP\/1.1 400 [^]*too large/)
  t.strictSame(handled, [])
})

t.test('what is not HTTP is refused', async (t) => {
  const { port } = await start(t)
  const socket = connect({ port, host: '127.0.0.1' })
  socket.end('POST / HTTP/1.1\r\ncontent-length: x\r\n\r\n')
  t.match(await text(socket), /^HTTP\/1.1 400/)
})

for (const [what, error] of [
  ['there is too much to do', new Failure('Conflict', 'Too many wait.')],
  ['nothing could be written', new Failure('NetworkError', 'The API server could not be reached.')],
  ['there is a bug', new TypeError('cannot read s3cr3t-token of undefined')],
] as const) {
  t.test(`where ${what} the answer is 503 with Retry-After and nothing in the body`, async (t) => {
    const { port, logged } = await start(t, () => Promise.reject(error))
    const { status, headers, body } = await send(port, { headers: BINARY }, BODY)
    t.equal(status, 503)
    t.match(headers['retry-after'], /^[1-9]\d*$/)
    t.equal(body, '')
    t.notMatch(logged.join(''), 's3cr3t')
    const lines = logged.map((line): unknown => JSON.parse(line))
    if (error instanceof TypeError)
      t.match(lines, [{ level: 50, msg: 'event could not be handled', origin: { error: 'TypeError' } }])
  })
}

t.test('health is answered, another path is not there', async (t) => {
  const timing: Timing = { ...TIMING, wait: () => Promise.resolve() }
  const { port } = await start(t, undefined, { timing })
  t.equal((await send(port, { method: 'GET', path: '/health/liveness' })).status, 200)
  t.equal((await send(port, { method: 'GET', path: '/health/readiness' })).status, 200)
  t.equal((await send(port, { method: 'GET', path: '/' })).status, 404)
})

t.test('closing ends readiness, refuses new events and finishes those in flight', async (t) => {
  const { promise: finished, resolve: finish } = Promise.withResolvers<undefined>()
  const { app, port, handled } = await start(t, () => finished)
  let seen = 0
  app.server.on('request', () => (seen += 1))
  const [probed, busy] = [openConnection(port), openConnection(port)]
  probed.write('POST /', BODY)
  busy.write('POST /', BODY)
  await waitFor('two events in flight', () => handled[1], 10_000)
  const closed = app.close()
  await waitFor('end of the listener', () => (app.server.listening ? undefined : true), 10_000)
  // Connections without a request in flight are closed: what still can come comes over those that have one.
  probed.write('GET /health/readiness', '')
  busy.write('POST /', BODY)
  await waitFor('arrival of both', () => (seen === 4 ? true : undefined), 10_000)
  finish(undefined)
  t.match(await probed.answers, /^HTTP\/1.1 202 [^]*\r\n\r\nHTTP\/1.1 503 [^]*\r\n\r\n$/)
  const answers = await busy.answers
  t.match(answers, /^HTTP\/1.1 202 [^]*\r\n\r\nHTTP\/1.1 503 [^]*\r\n\r\n$/)
  t.match(answers, /\r\nretry-after: [1-9]/i)
  t.equal(handled.length, 2)
  await closed
})

t.test('a connection over which nothing was ever sent does not keep the function from closing', async (t) => {
  const { app, port } = await start(t)
  const silent = connect({ port, host: '127.0.0.1' })
  await once(silent, 'connect')
  const began = performance.now()
  await app.close()
  // The bound is 2 s; a request may take 10 s to come.
  t.ok(performance.now() - began < 9_000)
  silent.destroy()
})

/** One connection, over which requests are written without waiting for the answers. */
function openConnection(port: number) {
  const socket = connect({ port, host: '127.0.0.1' })
  const headers = Object.entries(BINARY).map(([name, value]) => `${name}: ${value}\r\n`)
  return {
    answers: text(socket),
    write(line: string, body: string): void {
      socket.write(
        `${line} HTTP/1.1\r\nhost: x\r\n${headers.join('')}content-length: ${body.length}\r\n\r\n${body}`,
      )
    },
  }
}

const TRACE = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7', sampled: true }

t.test('the trace of an event is continued if the webhook has signed it, and by nobody else', async (t) => {
  const stampKey = createSecretKey(Buffer.alloc(32, 'k'))
  const attributes: Readonly<Record<string, string>> = { ...ATTRIBUTES, traceparent: traceparentOf(TRACE) }
  const signature = traceSignature((name) => attributes[name], stampKey)
  const traced = { ...BINARY, 'ce-traceparent': traceparentOf(TRACE), traceparent: traceparentOf(TRACE) }
  const signed = { ...traced, 'ce-tracesignature': signature }
  for (const [headers, key, ref] of [
    [signed, stampKey, { ...REF, trace: TRACE }],
    [traced, stampKey, REF],
    [{ ...signed, 'ce-id': 'other' }, stampKey, REF],
    [signed, undefined, REF],
  ] as const) {
    const { port, handled } = await start(t, undefined, {
      stampKeys: key === undefined ? [] : [createSecretKey(Buffer.alloc(32, 'n')), key],
    })
    t.equal((await send(port, { headers }, BODY)).status, 202)
    t.strictSame(handled, [ref])
  }
})

t.test('who floods from one address leaves others theirs, except behind a proxy of the pod', async (t) => {
  const log = pino({ level: 'silent' })
  const app = buildApp(() => Promise.resolve(), log, { stampKeys: [createSecretKey(Buffer.alloc(32, 'k'))] })
  t.teardown(() => app.close())
  const from = { address: '', connections: 0 }
  app.server.on('connection', (socket) => {
    from.connections += 1
    Object.defineProperty(socket, 'remoteAddress', { value: from.address })
  })
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const waits: Promise<unknown>[] = []
  /** How many of so many events that come at once are taken: refusals wait for seconds. */
  async function takenOf(address: string, count: number): Promise<number> {
    Object.assign(from, { address, connections: 0 })
    let taken = 0
    async function send(): Promise<void> {
      const headers = { ...BINARY, connection: 'close' }
      const { status } = await fetch(url, { method: 'POST', headers, body: BODY })
      if (status === 202) taken += 1
    }
    waits.push(...Array.from({ length: count }, send))
    await waitFor('all connections', () => from.connections === count || undefined, 30_000)
    await waitFor('those that are taken', () => taken > 0 || undefined, 30_000)
    await pause(50)
    return taken
  }
  t.ok((await takenOf('192.0.2.1', 500)) >= 320)
  t.ok((await takenOf('192.0.2.2', 60)) >= 20, 'its own')
  await takenOf('192.0.2.1', 100)
  for (const proxy of ['127.0.0.1', '::1', '::ffff:127.0.0.6'])
    t.ok((await takenOf(proxy, 100)) < 100, `no more than what all have: ${proxy}`)
  await Promise.all(waits)
})
