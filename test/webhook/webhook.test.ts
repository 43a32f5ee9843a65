import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { connect } from 'node:tls'
import type { SecureVersion } from 'node:tls'
import t from 'tap'
import type { Test } from 'tap'
import { createSecretKey, randomBytes, X509Certificate } from 'node:crypto'
import { Failure } from '../../functions/domain/failure.ts'
import { appliedEvent } from '../../functions/domain/event/applied-event.ts'
import { readTraceparent, traceparentOf } from '../../functions/domain/telemetry/trace-context.ts'
import { openTracer, type EndedSpan } from '../../functions/telemetry/tracer.ts'
import { traceDelivery } from '../../webhook/delivery/traced-delivery.ts'
import { readConfig } from '../../webhook/config.ts'
import type { WebhookConfig } from '../../webhook/config.ts'
import { buildWebhook } from '../../webhook/webhook.ts'
import type { WebhookWorld } from '../../webhook/webhook.ts'
import { makeAuthority } from '../harness/certificates.ts'
import { memoryCluster } from '../harness/memory-cluster.ts'
import { waitFor } from '../harness/wait.ts'
import { call, gitCommit, recordingLog, reviewOf, stamped, startSink, writePair } from './stage.ts'

const authority = await makeAuthority()

const CONTEXT = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7', sampled: true }
const BROKEN = Promise.resolve({ broken: true })

async function start(t: Test, changes: Partial<WebhookConfig> = {}, world: Partial<WebhookWorld> = {}) {
  const sink = await startSink()
  t.teardown(() => sink.close())
  const dir = t.testdir({})
  const tls = await writePair(dir, authority)
  const cluster = memoryCluster()
  const { log, lines } = recordingLog()
  const config: WebhookConfig = {
    ...readConfig({ PORT: '0', K_SINK: sink.url.href, SWEEP_INTERVAL: '0', SWEEP_FULL_INTERVAL: '0' }),
    tls,
    ...changes,
  }
  const webhook = await buildWebhook(config, { cluster, log, uuid: () => 'event-1', ...world })
  const port = await webhook.listen('127.0.0.1')
  t.teardown(() => webhook.drain(0))
  const post = (path: string, review: unknown) =>
    call({ port, ca: authority.certPEM }, path, JSON.stringify(review))
  return { webhook, sink, cluster, lines, port, post, tls }
}

t.test('an admitted resource is stamped, validated and announced', async (t) => {
  const { post, sink } = await start(t)
  const mutated = await post('/mutate', reviewOf(gitCommit()))
  const patch: unknown = JSON.parse(Buffer.from(mutated.body.response.patch, 'base64').toString())
  t.match(patch, [{ path: '/metadata/annotations', value: { 'commitlet.dev/requested-by': 'developer' } }])
  t.strictSame(sink.received, [], '/mutate announces nothing')
  t.match((await post('/validate', reviewOf(stamped()))).body.response, { uid: 'review-1', allowed: true })
  const { headers, data } = await waitFor('event', () => sink.received[0], 5_000)
  t.match(headers, { 'ce-id': 'event-1', 'ce-type': 'dev.commitlet.gitcommit.applied' })
  t.match(data, { namespace: 'shop', name: 'settings', generation: 1 })
})

t.test('nothing is announced of a dry run or of what was denied', async (t) => {
  const { post, sink } = await start(t)
  await post('/validate', reviewOf(stamped(), { dryRun: true }))
  const { body } = await post('/validate', reviewOf(stamped({}, { message: '' })))
  t.match(body.response, { allowed: false, status: { code: 422 } })
  await post('/validate', reviewOf(stamped({ name: 'last' })))
  await waitFor('event', () => sink.received[0], 5_000)
  t.match(sink.received, [{ data: { name: 'last' } }])
  t.equal(sink.received.length, 1)
})

t.test('the answer does not wait for a sink that is silent', async (t) => {
  const { post, sink, webhook, lines } = await start(t)
  sink.answer = () => undefined
  t.equal((await post('/validate', reviewOf(stamped()))).status, 200)
  await waitFor('event', () => sink.received[0], 5_000)
  await webhook.drain(10)
  t.match(lines.at(-1), { events: 1, msg: /not sent before the end/ })
})

t.test('without a sink resources are admitted, and a line says so', async (t) => {
  const { post, lines } = await start(t, { sink: undefined })
  t.match((await post('/validate', reviewOf(stamped()))).body.response, { allowed: true })
  t.equal(lines.filter(({ msg }) => /K_SINK is not set/.test(String(msg))).length, 1)
})

t.test('stamps are signed with the key; without one a line says so', async (t) => {
  const UNSIGNED = /^STAMP_KEY_FILE is not set/
  for (const stampKey of [undefined, createSecretKey(randomBytes(32))]) {
    const { post, lines } = await start(t, { stampKey })
    const { body } = await post('/mutate', reviewOf(gitCommit()))
    const [{ value }] = JSON.parse(Buffer.from(body.response.patch, 'base64').toString())
    const signature: unknown = value['commitlet.dev/requester-signature']
    const warned = lines.filter(({ level, msg }) => level === 40 && UNSIGNED.test(String(msg)))
    t.equal(warned.length, stampKey === undefined ? 1 : 0)
    if (stampKey === undefined) t.equal(signature, undefined)
    else t.match(signature, /^[0-9a-f]{64}$/)
  }
})

t.test('a Secret that the webhook may not read is requested once for two applies', async (t) => {
  let asked = 0
  const readSecret = () => {
    asked += 1
    return Promise.reject(new Failure('ReferenceForbidden', 'No.'))
  }
  const { post } = await start(t, {}, { cluster: { ...memoryCluster(), readSecret } })
  for (const name of ['one', 'two'])
    t.match((await post('/validate', reviewOf(stamped({ name })))).body.response, { allowed: true })
  t.equal(asked, 1)
})

t.test('an admitted resource without a possible event is logged', async (t) => {
  const { post, lines } = await start(t)
  await post('/validate', reviewOf(stamped({ uid: undefined })))
  const announcing = () => lines.find(({ msg }) => /could not be sent; a sweep/.test(String(msg)))
  t.match(await waitFor('line', announcing, 5_000), { origin: { error: 'InvalidSpec' } })
})

t.test('a resource whose event was lost is found by the sweep', async (t) => {
  const cluster = memoryCluster()
  cluster.apply({ ...gitCommit(), metadata: { namespace: 'shop', name: 'lost' } })
  const { sink } = await start(t, { sweepFullInterval: 300 }, { cluster })
  const { data } = await waitFor('event', () => sink.received[0], 5_000)
  t.equal(data.name, 'lost')
})

t.test('a new certificate is served without a restart, in TLS 1.2, and a broken one is not', async (t) => {
  const { port, tls, lines } = await start(t)
  const served = async () => (await call({ port, ca: authority.certPEM }, '/health/liveness')).served
  const speaks = async (minVersion: SecureVersion): Promise<boolean> => {
    const socket = connect({ port, host: '127.0.0.1', ca: authority.certPEM, minVersion })
    const connected = await once(socket, 'secureConnect').then(Boolean, () => false)
    socket.destroy()
    return connected
  }
  const fingerprint = async () => new X509Certificate(await readFile(tls.certFile)).fingerprint256
  const first = await fingerprint()
  t.equal(await served(), first)
  t.same([await speaks('TLSv1.2'), await speaks('TLSv1.3')], [true, false])

  await writeFile(tls.keyFile, 'broken')
  await waitFor('complaint', () => lines.find(({ msg }) => msg === 'the old certificate stays in use'), 5_000)
  t.equal(await served(), first)

  const next = await authority.issue({ names: ['localhost', '127.0.0.1'] })
  await writeFile(tls.keyFile, next.keyPEM)
  await writeFile(tls.certFile, next.certPEM)
  await waitFor(
    'new certificate',
    () => lines.find(({ msg }) => msg === 'a new certificate is served'),
    5_000,
  )
  t.not(await fingerprint(), first)
  t.equal(await served(), await fingerprint())
  t.same([await speaks('TLSv1.2'), await speaks('TLSv1.3')], [true, false])
})

/** Node may close the server before or after it reports the last answer: so rarely that one round may miss it. */
const DRAINS = 12

t.test('draining finishes the review in flight and sends its event, every time', async (t) => {
  for (let round = 1; round <= DRAINS; round += 1) await t.test(`drain ${round}`, drainInFlight)
})

async function drainInFlight(t: Test): Promise<void> {
  const gate = Promise.withResolvers<{ plural: string; namespaced: boolean }>()
  const asked = Promise.withResolvers<undefined>()
  const discover = () => {
    asked.resolve(undefined)
    return gate.promise
  }
  const { post, sink, webhook, port } = await start(t, {}, { cluster: { ...memoryCluster(), discover } })
  const answer = post('/validate', reviewOf(stamped()))
  await asked.promise
  const drained = webhook.drain()
  gate.resolve({ plural: 'configmaps', namespaced: true })
  t.match((await answer).body.response, { allowed: true })
  await drained
  t.equal(sink.received.length, 1)
  await t.rejects(call({ port, ca: authority.certPEM }, '/health/liveness'), { code: 'ECONNREFUSED' })
}

t.test('an unusable certificate stops the start', async (t) => {
  const missing = { certFile: '/nowhere/tls.crt', keyFile: '/nowhere/tls.key', clientCAFile: undefined }
  await t.rejects(start(t, { tls: missing }), {
    message: /\/nowhere\/tls.crt, named by TLS_CERT_FILE, .* cannot be read/,
  })
})

t.test('the event continues the trace of its admission, which has a span for each call', async (t) => {
  const spans: EndedSpan[] = []
  const tracer = openTracer({ ended: (span) => spans.push(span) })
  const { post, sink } = await start(t, {}, { tracer })
  const { body } = await post('/validate', reviewOf(stamped({}, { message: '' })))
  t.equal(body.response.allowed, false)
  await post('/validate', reviewOf(stamped()))
  const { headers } = await waitFor('event', () => sink.received[0], 5_000)
  const sent = await waitFor('its end', () => spans.find(({ name }) => name === 'send event'), 5_000)
  t.equal(headers['ce-traceparent'], traceparentOf(sent.context))
  const [denied, admission] = spans.filter(({ name }) => name === 'admission')
  t.match(denied, { attributes: { 'commitlet.outcome': 'denied', 'commitlet.reason': 'InvalidSpec' } })
  t.match(admission, {
    parentSpanId: undefined,
    attributes: {
      'commitlet.webhook': 'validate',
      'commitlet.kind': 'GitCommit',
      'k8s.namespace.name': 'shop',
      'commitlet.name': 'settings',
      'commitlet.outcome': 'allowed',
    },
  })
  t.strictSame(
    [sent.context.traceId, sent.parentSpanId],
    [admission?.context.traceId, admission?.context.spanId],
  )
  const calls = spans.filter(({ parentSpanId }) => parentSpanId === admission?.context.spanId)
  t.match(new Set(calls.map(({ name }) => name)), new Set(['discover', 'review access', 'send event']))
})

t.test(
  'the second sending and the retries are in the same trace, and a swept event begins one',
  async (t) => {
    const spans: EndedSpan[] = []
    const sent: unknown[] = []
    const deliver = traceDelivery(
      (event) => {
        sent.push(readTraceparent(event.attributes['traceparent'])?.traceId)
        return sent.length === 2 ? Promise.reject(new Failure('NetworkError', 'No.')) : BROKEN
      },
      openTracer({ ended: (span) => spans.push(span) }),
    )
    const signal = new AbortController().signal
    const admitted = appliedEvent(stamped(), 'event-1', CONTEXT)
    await deliver(admitted, signal)
    await t.rejects(deliver(admitted, signal))
    await deliver(appliedEvent(stamped(), 'event-2'), signal)
    t.strictSame(sent.slice(0, 2), [CONTEXT.traceId, CONTEXT.traceId])
    t.not(sent[2], CONTEXT.traceId)
    t.match(spans, [
      { parentSpanId: CONTEXT.spanId, failed: false },
      { parentSpanId: CONTEXT.spanId, failed: true, attributes: { 'error.type': 'NetworkError' } },
      { parentSpanId: undefined },
    ])
  },
)
