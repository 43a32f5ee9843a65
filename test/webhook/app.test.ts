import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { connect } from 'node:tls'
import t from 'tap'
import type { Test } from 'tap'
import { shareThread } from '../../webhook/admission/thread-turns.ts'
import { buildApp } from '../../webhook/app.ts'
import type { Edge } from '../../webhook/edge.ts'
import type { AdmissionRequest, Verdict } from '../../webhook/admission/review.ts'
import type { Timing } from '../../functions/domain/incoming/timing.ts'
import { listenWithMany } from '../../functions/net/listeners.ts'
import type { TraceContext } from '../../functions/domain/telemetry/trace-context.ts'
import { readKeyPair } from '../../webhook/tls.ts'
import { makeAuthority } from '../harness/certificates.ts'
import { waitFor } from '../harness/wait.ts'
import { call, gitCommit, QUICK, recordingLog, reviewOf, writePair } from './stage.ts'

const REVIEW = JSON.stringify(reviewOf(gitCommit()))
const MIB = 1024 * 1024

async function start(t: Test, changes: Partial<Edge> = {}, certified = false, timing = QUICK) {
  const authority = await makeAuthority()
  const dir = t.testdir({})
  const files = await writePair(dir, authority)
  const clientCAFile = `${dir}/ca.crt`
  await writeFile(clientCAFile, authority.certPEM)
  const { log, lines } = recordingLog()
  const answers: [AdmissionRequest, Verdict][] = []
  const edge: Edge = {
    mutate: async () => ({ patch: [{ op: 'remove', path: '/a' }] }),
    validate: async () => ({ warnings: ['w'] }),
    answered:
      (...answer) =>
      () =>
        answers.push(answer),
    isDraining: () => false,
    inTurn: shareThread(() => performance.now()),
    log,
    ...changes,
  }
  const app = buildApp(edge, await readKeyPair(certified ? { ...files, clientCAFile } : files), timing)
  t.teardown(() => app.close())
  const port = Number(new URL(await listenWithMany(app)({ host: '127.0.0.1', port: 0 })).port)
  return { port, ca: authority.certPEM, authority, answers, lines, app }
}

t.test('a connection over which nothing was ever sent does not keep the webhook from closing', async (t) => {
  const { port, ca, app } = await start(t)
  const silent = connect({ port, host: '127.0.0.1', servername: 'localhost', ca })
  await once(silent, 'secureConnect')
  const began = performance.now()
  await app.close()
  // The bound is 2 s; a request may take 10 s to come.
  t.ok(performance.now() - began < 9_000)
  silent.destroy()
})

t.test(
  'of a webhook that closes, reviews in hand and on their way get the last answer of their connection',
  async (t) => {
    // Nothing is closed because its time is over.
    const wait: Timing['wait'] = (_milliseconds, signal) =>
      new Promise((_, reject) => signal.addEventListener('abort', reject))
    const { promise: decided, resolve: decide } = Promise.withResolvers<undefined>()
    let reviews = 0
    const validate: Edge['validate'] = async () => {
      reviews += 1
      if (reviews === 2) await decided
      return {}
    }
    const { port, ca, app } = await start(t, { validate }, false, { ...QUICK, wait })
    const length = Buffer.byteLength(REVIEW)
    const review = `POST /validate HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n${REVIEW}`
    const open = () => {
      const client = connect({ port, host: '127.0.0.1', servername: 'localhost', ca }).setEncoding('utf8')
      const heard = { client, said: '' }
      client.on('data', (text: string) => (heard.said += text)).write(review)
      return heard
    }
    const idle = open()
    await waitFor('its answer', () => idle.said.includes('"allowed":true') || undefined, 10_000)
    t.notMatch(idle.said, /connection: close/i)
    const busy = open()
    await waitFor('a review in hand', () => (reviews === 2 ? true : undefined), 10_000)
    const closed = app.close()
    await waitFor('end of the listener', () => (app.server.listening ? undefined : true), 10_000)
    idle.client.write(review)
    await once(idle.client, 'close')
    t.match(idle.said, /200 OK[^]*200 OK[^]*connection: close[^]*"allowed":true/i)
    decide(undefined)
    await once(busy.client, 'close')
    t.match(busy.said, /200 OK[^]*connection: close[^]*"allowed":true/i)
    await closed
  },
)

t.test('a review to /mutate is answered with the patch', async (t) => {
  const { port, ca, answers } = await start(t)
  const { status, body } = await call({ port, ca }, '/mutate?timeout=10s', REVIEW)
  t.equal(status, 200)
  t.match(body.response, { uid: 'review-1', allowed: true, patchType: 'JSONPatch' })
  t.strictSame(answers, [], 'nothing follows')
})

t.test('a review to /validate is answered, and only then the follow-up runs', async (t) => {
  const { port, ca, answers } = await start(t)
  const { body } = await call({ port, ca }, '/validate', REVIEW)
  t.strictSame(body.response, { uid: 'review-1', allowed: true, warnings: ['w'] })
  const [request, verdict] = await waitFor('answer', () => answers[0], 5_000)
  t.match(request, { uid: 'review-1', kind: 'GitCommit' })
  t.strictSame(verdict, { warnings: ['w'] })
})

t.test('the follow-up runs when all of the answer has been written to the connection', async (t) => {
  const done: boolean[] = []
  const { port, ca, app, answers } = await start(t, {
    answered: () => () => done.push(...responses.map(({ writableFinished }) => writableFinished)),
  })
  const responses: ServerResponse[] = []
  app.server.on('request', (_request, response) => responses.push(response))
  await call({ port, ca }, '/validate', REVIEW)
  t.strictSame(await waitFor('answer', () => (done.length > 0 ? done : undefined), 5_000), [true])
  t.strictSame(answers, [])
})

t.test('no follow-up runs where the client has gone before its answer', async (t) => {
  const [asked, decided] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()]
  const { port, ca, answers, app } = await start(t, {
    validate: async () => {
      asked.resolve(undefined)
      await decided.promise
      return {}
    },
  })
  const connected = once(app.server, 'connection')
  const socket = connect({ port, ca, host: '127.0.0.1', servername: 'localhost' })
  socket.on('error', () => undefined)
  const head = `POST /validate HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(REVIEW)}\r\n\r\n`
  socket.write(head + REVIEW)
  await asked.promise
  const [connection] = await connected
  socket.destroy()
  await waitFor('end of the connection', () => (connection.closed ? true : undefined), 5_000)
  decided.resolve(undefined)
  await call({ port, ca }, '/health/liveness')
  t.strictSame(answers, [])
})

const DEEP = '['.repeat(10_000) + ']'.repeat(10_000)

for (const [title, body, status, message] of [
  ['nothing', '', 400, /AdmissionReview|not JSON/],
  ['a cut review', REVIEW.slice(0, 300), 400, /was truncated/],
  ['no JSON', 'a=b', 400, /not JSON/],
  [
    'another version',
    REVIEW.replace('admission.k8s.io/v1', 'admission.k8s.io/v1beta1'),
    400,
    /admission.k8s.io\/v1\./,
  ],
  ['a list', '[]', 400, /AdmissionReview/],
  ['10,000 levels', DEEP, 400, /AdmissionReview/],
  ['10,000 levels inside', `{"apiVersion":${DEEP}}`, 400, /AdmissionReview/],
  ['a prototype', `{"__proto__":${REVIEW}}`, 400, /AdmissionReview/],
  ['8 MiB', JSON.stringify('x'.repeat(8 * MIB)), 413, /7 MiB/],
] as const) {
  t.test(`${title} is refused with ${status} and one sentence`, async (t) => {
    const { port, ca, answers } = await start(t)
    for (const path of ['/mutate', '/validate']) {
      const posted = await call({ port, ca }, path, body)
      t.equal(posted.status, status)
      t.match(posted.body, { apiVersion: 'v1', kind: 'Status', status: 'Failure', code: status, message })
      t.notMatch(posted.body.message, /\. |Error|at \//)
    }
    t.strictSame(answers, [])
  })
}

t.test('a review with __proto__ keys in its object is answered', async (t) => {
  const { port, ca } = await start(t)
  const review = REVIEW.replace(
    '"spec":{',
    '"spec":{"__proto__":{"polluted":true},"constructor":{"prototype":{}},',
  )
  const { status } = await call({ port, ca }, '/mutate', review)
  t.equal(status, 200)
  t.notOk('polluted' in {})
})

t.test('almost 7 MiB are read', async (t) => {
  const { port, ca } = await start(t)
  const large = JSON.stringify(reviewOf(gitCommit({ annotations: { a: 'x'.repeat(6.9 * MIB) } })))
  const { status } = await call({ port, ca }, '/mutate', large)
  t.equal(status, 200)
})

t.test('health is answered, and readiness ends with the drain', async (t) => {
  let draining = false
  const { port, ca } = await start(t, { isDraining: () => draining })
  t.equal((await call({ port, ca }, '/health/liveness')).status, 200)
  t.equal((await call({ port, ca }, '/health/readiness')).status, 200)
  draining = true
  t.equal((await call({ port, ca }, '/health/liveness')).status, 200)
  t.equal((await call({ port, ca }, '/health/readiness')).status, 503)
})

t.test('another path is not found', async (t) => {
  const { port, ca } = await start(t)
  const { status, body } = await call({ port, ca }, '/validate')
  t.equal(status, 404)
  t.match(body.message, /POST \/mutate or \/validate/)
})

t.test('what is not HTTP is refused without a crash', async (t) => {
  const { port, ca } = await start(t)
  const socket = connect({ port, ca, host: '127.0.0.1' }, () =>
    socket.end('POST /mutate HTTP/1.1\r\ncontent-length: x\r\n\r\n'),
  )
  let answer = ''
  for await (const chunk of socket) answer += String(chunk)
  t.match(answer, /^HTTP\/1.1 400/)
})

t.test('a request without a media type is refused with one sentence', async (t) => {
  const { app } = await start(t)
  const headers = { 'content-type': '/' }
  const answer = await app.inject({ method: 'POST', url: '/mutate', headers, payload: REVIEW })
  t.equal(answer.statusCode, 400)
  t.match(answer.json().message, /could not be read/)
})

t.test('a bug is logged with its stack and answered without it', async (t) => {
  const mutate = () => Promise.reject(new TypeError('x is not a function'))
  const { port, ca, lines } = await start(t, { mutate })
  const { status, body } = await call({ port, ca }, '/mutate', REVIEW)
  t.equal(status, 500)
  t.equal(body.message, 'The review could not be answered; try again.')
  t.match(lines, [{ msg: 'a review could not be answered', origin: { error: 'TypeError' } }])
})

t.test('with client certificates required, only reviews need one', async (t) => {
  const { port, ca, authority } = await start(t, {}, true)
  const client = await authority.issue({ names: [], clientName: 'kube-apiserver' })
  const stranger = await (await makeAuthority('stranger')).issue({ names: [], clientName: 'kube-apiserver' })
  const certified = { port, ca, cert: client.certPEM, key: client.keyPEM }
  t.equal((await call(certified, '/mutate', REVIEW)).status, 200)
  for (const target of [
    { port, ca },
    { port, ca, cert: stranger.certPEM, key: stranger.keyPEM },
  ]) {
    const { status, body } = await call(target, '/validate', REVIEW)
    t.equal(status, 403)
    t.match(body.message, /client certificate/)
    t.equal((await call(target, '/health/readiness')).status, 200)
  }
})

t.test('a review that was forwarded is refused, such as by the API server for a tenant’s pod', async (t) => {
  const { port, ca } = await start(t)
  // Of more than a hundred headers, some versions of Node leave out the last ones.
  const many = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`a${index}`, '']))
  for (const headers of [{ 'x-forwarded-for': '192.0.2.1' }, many])
    for (const path of ['/mutate', '/validate']) {
      const { status, body } = await call({ port, ca, headers }, path, REVIEW)
      t.equal(status, 403)
      t.match(body.message, /^A review has to come from the API server itself/)
    }
})

t.test('the span that a request names is heard only from the API server, by its certificate', async (t) => {
  const traces: unknown[] = []
  const note = async (_request: AdmissionRequest, trace?: TraceContext): Promise<Verdict> => {
    traces.push(trace?.traceId)
    return {}
  }
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
  const traceparent = `00-${traceId}-00f067aa0ba902b7-01`
  const { port, ca, authority } = await start(t, { mutate: note, validate: note }, true)
  const { certPEM: cert, keyPEM: key } = await authority.issue({ names: [], clientName: 'kube-apiserver' })
  for (const path of ['/mutate', '/validate'])
    t.equal((await call({ port, ca, cert, key, headers: { traceparent } }, path, REVIEW)).status, 200)
  const open = await start(t, { mutate: note })
  await call({ port: open.port, ca: open.ca, headers: { traceparent } }, '/mutate', REVIEW)
  t.strictSame(traces, [traceId, traceId, undefined])
})
