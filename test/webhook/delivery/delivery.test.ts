import { createSecretKey } from 'node:crypto'
import { createHook } from 'node:async_hooks'
import type { ServerResponse } from 'node:http'
import { createServer as createTLSServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import type { Test } from 'tap'
import { readEvent } from '../../../functions/domain/event/cloud-event.ts'
import { isFromWebhook, signedTrace } from '../../../functions/domain/event/sender-signature.ts'
import { appliedEvent } from '../../../functions/domain/event/applied-event.ts'
import { Failure } from '../../../functions/domain/failure.ts'
import { binaryHeaders, makeDelivery } from '../../../webhook/delivery/delivery.ts'
import { makeAuthority } from '../../harness/certificates.ts'
import { freePort, waitFor } from '../../harness/wait.ts'
import type { SinkServer } from '../stage.ts'
import { gitCommit, startSink } from '../stage.ts'

const EVENT = appliedEvent(gitCommit(), 'event-1')
const QUICK = { requestMs: 60_000, bodyMs: 60_000, windowMs: 2_000, firstPauseMs: 1 }
const NEVER = new AbortController().signal

async function openSink(t: Test): Promise<SinkServer> {
  const sink = await startSink()
  t.teardown(() => sink.close())
  return sink
}

function deliveryTo(url: URL, patience = QUICK, extensions = {}) {
  return makeDelivery({ url, extensions, caCerts: undefined }, 4, patience)
}

t.test('an event arrives in binary mode, with the extensions of the overrides', async (t) => {
  const sink = await openSink(t)
  await deliveryTo(sink.url, QUICK, { tenant: 'a "b"' })(EVENT, NEVER)
  const { headers, data } = sink.received[0]!
  t.match(headers, {
    'ce-specversion': '1.0',
    'ce-type': 'dev.commitlet.gitcommit.applied',
    'ce-id': 'event-1',
    'ce-subject': 'shop/settings',
    'ce-partitionkey': /^[0-9a-f]{32}$/,
    'ce-tenant': 'a%20%22b%22',
    'content-type': 'application/json',
  })
  t.notOk('ce-datacontenttype' in headers)
  t.match(readEvent(headers, JSON.stringify(data)), [{ ref: { name: 'settings', generation: 1 } }])
})

t.test('with the key of the stamps an event is signed, which no override changes', async (t) => {
  const sink = await openSink(t)
  const stampKey = createSecretKey(Buffer.alloc(32, 'k'))
  const target = { url: sink.url, extensions: { sendersignature: 'other' }, caCerts: undefined }
  await makeDelivery({ ...target, stampKey }, 4, QUICK)(EVENT, NEVER)
  t.ok(isFromWebhook(sink.received[0]!.headers, stampKey, new Date()))
  await deliveryTo(sink.url)(EVENT, NEVER)
  t.notOk('ce-sendersignature' in sink.received[1]!.headers)
})

t.test(
  'the time that is signed is the one that is given, whatever the clock of the machine says',
  async (t) => {
    const sink = await openSink(t)
    const stampKey = createSecretKey(Buffer.alloc(32, 'k'))
    const now = new Date('2038-01-19T03:14:07Z')
    const target = { url: sink.url, extensions: {}, caCerts: undefined, stampKey, now: () => now }
    await makeDelivery(target, 4, QUICK)(EVENT, NEVER)
    t.ok(isFromWebhook(sink.received[0]!.headers, stampKey, now))
    t.notOk(isFromWebhook(sink.received[0]!.headers, stampKey, new Date()))
  },
)

t.test('the trace of an event is signed as well', async (t) => {
  const sink = await openSink(t)
  const stampKey = createSecretKey(Buffer.alloc(32, 'k'))
  const trace = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7', sampled: false }
  const target = { url: sink.url, extensions: {}, caCerts: undefined, stampKey }
  await makeDelivery(target, 4, QUICK)(appliedEvent(gitCommit(), 'event-1', trace), NEVER)
  await makeDelivery(target, 4, QUICK)(EVENT, NEVER)
  t.strictSame(signedTrace(sink.received[0]!.headers, stampKey), trace)
  t.ok(isFromWebhook(sink.received[0]!.headers, stampKey, new Date()))
  t.notOk('ce-tracesignature' in sink.received[1]!.headers)
})

t.test('header values are percent-encoded where the binding says so', async (t) => {
  const { 'ce-x': value } = binaryHeaders(EVENT, { x: 'Euro € 😀 100% "a"\n~' })
  t.equal(value, 'Euro%20%E2%82%AC%20%F0%9F%98%80%20100%25%20%22a%22%0A~')
  t.equal(decodeURIComponent(`${value}`), 'Euro € 😀 100% "a"\n~')
})

t.test('what the sink answers is read and ignored, and the connection is kept', async (t) => {
  const sink = await openSink(t)
  sink.answer = (response) => response.writeHead(200).end('x'.repeat(100_000))
  const deliver = deliveryTo(sink.url)
  for (let i = 0; i < 3; i += 1) await deliver(EVENT, NEVER)
  t.equal(sink.received.length, 3)
  t.equal(sink.connections(), 1)
})

t.test('a sink that sends interim answers without end is given up after 64 KiB', async (t) => {
  const sink = await openSink(t)
  sink.answer = (response) => {
    for (let i = 0; i < 5_000; i += 1) response.writeProcessing()
    response.writeHead(202).end()
  }
  await t.rejects(deliveryTo(sink.url, { ...QUICK, windowMs: 100 })(EVENT, NEVER), {
    reason: 'NetworkError',
    message: /did not answer/,
  })
})

for (const status of [404, 408, 409, 429, 500, 503]) {
  t.test(`after a ${status} it is retried`, async (t) => {
    const sink = await openSink(t)
    sink.answer = (response) => response.writeHead(sink.received.length < 3 ? status : 202).end()
    await deliveryTo(sink.url)(EVENT, NEVER)
    t.equal(sink.received.length, 3)
  })
}

for (const [answer, broken] of [
  [(response: ServerResponse) => response.writeHead(503).end(), false],
  [(response: ServerResponse) => response.writeHead(502).end(), true],
  [(response: ServerResponse) => response.destroy(), true],
] as const) {
  t.test(
    `that ${broken ? 'a request broke' : 'requests were answered'} is known when one is accepted`,
    async (t) => {
      const sink = await openSink(t)
      sink.answer = (response) =>
        sink.received.length < 3 ? answer(response) : response.writeHead(202).end()
      t.same(await deliveryTo(sink.url)(EVENT, NEVER), { broken })
    },
  )
}

for (const status of [302, 400, 401, 413]) {
  t.test(`after a ${status} it is not retried`, async (t) => {
    const sink = await openSink(t)
    sink.answer = (response) => response.writeHead(status, { location: '/elsewhere' }).end()
    await t.rejects(deliveryTo(sink.url)(EVENT, NEVER), {
      message: `The sink answered with status ${status}.`,
    })
    t.equal(sink.received.length, 1)
  })
}

for (const upgrade of [{}, { connection: 'Upgrade', upgrade: 'other' }])
  t.test(`an answer that switches protocols is none: ${JSON.stringify(upgrade)}`, async (t) => {
    const sink = await openSink(t)
    sink.answer = (response) => response.writeHead(101, upgrade).end()
    await t.rejects(deliveryTo(sink.url)(EVENT, NEVER), { message: 'The sink answered with status 101.' })
  })

t.test('a connection that is cut is retried', async (t) => {
  const sink = await openSink(t)
  sink.answer = (response) => {
    if (sink.received.length < 2) response.destroy()
    else response.writeHead(202).end()
  }
  await deliveryTo(sink.url)(EVENT, NEVER)
  t.equal(sink.received.length, 2)
})

t.test('an answer whose body is cut counts', async (t) => {
  const sink = await openSink(t)
  sink.answer = (response) => {
    response.writeHead(200, { 'content-length': '100' }).write('half', () => response.destroy())
  }
  await deliveryTo(sink.url)(EVENT, NEVER)
  t.equal(sink.received.length, 1)
})

for (const [title, bodyMs, write] of [
  [
    'does not end',
    60_000,
    (response) => {
      const piece = 'x'.repeat(100_000)
      const more = (): unknown => response.destroyed || response.write(piece, more)
      more()
    },
  ],
  ['is slow', 50, (response) => void response.write('x')],
] as const satisfies readonly (readonly [string, number, (response: ServerResponse) => void])[])
  t.test(`an answer whose body ${title} counts, and its connection is closed`, async (t) => {
    const sink = await openSink(t)
    const closed = Promise.withResolvers<undefined>()
    sink.answer = (response) => {
      write(response.on('close', () => closed.resolve(undefined)).writeHead(202))
    }
    await deliveryTo(sink.url, { ...QUICK, bodyMs })(EVENT, NEVER)
    await closed.promise
    t.equal(sink.received.length, 1)
  })

t.test('retries end with their window', async (t) => {
  const url = new URL(`http://127.0.0.1:${await freePort()}/`)
  const delivery = deliveryTo(url, { ...QUICK, windowMs: 100 })(EVENT, NEVER)
  await t.rejects(delivery, { message: /could not be reached/ })
})

for (const headers of [
  { 'retry-after': '30' },
  { 'retry-after': 'Sat, 21 Nov 2020 12:00:30 GMT', date: 'Sat, 21 Nov 2020 12:00:00 GMT' },
  { 'retry-after': 'Fri, 01 Jan 9999 00:00:00 GMT', date: 'noon' },
])
  t.test(`no retry where it would come too late: ${JSON.stringify(headers)}`, async (t) => {
    const sink = await openSink(t)
    sink.answer = (response) => response.writeHead(503, headers).end()
    const error: unknown = await deliveryTo(sink.url)(EVENT, NEVER).catch((reason: unknown) => reason)
    t.ok(error instanceof Failure)
    t.equal(sink.received.length, 1)
  })

t.test('a sink that is silent is given up after the deadline of a request', async (t) => {
  const sink = await openSink(t)
  sink.answer = () => undefined
  const delivery = deliveryTo(sink.url, { ...QUICK, requestMs: 30, windowMs: 10 })(EVENT, NEVER)
  await t.rejects(delivery, { message: /could not be reached/ })
})

t.test('the signal ends a request and a pause at once', async (t) => {
  const sink = await openSink(t)
  sink.answer = () => undefined
  const inRequest = new AbortController()
  const hanging = deliveryTo(sink.url)(EVENT, inRequest.signal)
  await waitFor('request', () => sink.received[0], 5_000)
  inRequest.abort()
  await t.rejects(hanging, { message: /could not be reached/ })

  sink.answer = (response) => response.writeHead(503, { 'retry-after': '60' }).end()
  const inPause = new AbortController()
  const patient = { ...QUICK, windowMs: 120_000 }
  const pausing = deliveryTo(sink.url, patient)(EVENT, inPause.signal)
  await waitFor('second request', () => sink.received[1], 5_000)
  inPause.abort()
  await t.rejects(pausing, { message: /The sink/ })
})

t.test('K_CA_CERTS is trusted in addition to the authorities of the system', async (t) => {
  const authority = await makeAuthority()
  const { certPEM, keyPEM } = await authority.issue({ names: ['localhost'] })
  const server = createTLSServer({ cert: certPEM, key: keyPEM }, (_request, response) =>
    response.writeHead(202).end(),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close().closeAllConnections())
  const url = new URL(`https://localhost:${(server.address() as AddressInfo).port}/`)
  await t.resolves(makeDelivery({ url, extensions: {}, caCerts: authority.certPEM }, 4, QUICK)(EVENT, NEVER))
  const distrusting = makeDelivery({ url, extensions: {}, caCerts: undefined }, 4, { ...QUICK, windowMs: 5 })
  await t.rejects(distrusting(EVENT, NEVER), { message: /could not be reached/ })
})

t.test('of an event that was answered no timer is left', async (t) => {
  const sink = await openSink(t)
  const requestMs = 610_001
  const timers = new Set<number>()
  const hook = createHook({
    init(id, _type, _cause, resource) {
      if (Reflect.get(resource, '_idleTimeout') === requestMs) timers.add(id)
    },
    destroy: (id) => void timers.delete(id),
  }).enable()
  t.teardown(() => hook.disable())
  const delivered = deliveryTo(sink.url, { ...QUICK, requestMs })(EVENT, NEVER)
  t.equal(timers.size, 1)
  await delivered
  await waitFor('end of the timer', () => timers.size === 0 || undefined, 10_000)
})
