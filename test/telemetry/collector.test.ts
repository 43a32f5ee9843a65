import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { connect, createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { readProxies } from '../../functions/domain/network/proxies.ts'
import { followTrust } from '../../functions/net/trust.ts'
import { openCollector } from '../../functions/telemetry/collector.ts'
import { readTraceSettings } from '../../functions/telemetry/trace-settings.ts'
import type { EndedSpan } from '../../functions/telemetry/tracer.ts'
import { makeAuthority } from '../harness/certificates.ts'
import { startProxy } from '../harness/connect-proxy.ts'
import { startCollector, type CollectorOptions } from '../harness/trace-collector.ts'
import { freePort } from '../harness/wait.ts'

const authority = await makeAuthority()
const certificate = await authority.issue({ names: ['localhost', 'collector.example.com'] })

const CONTEXT = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7', sampled: true }
const SPAN: EndedSpan = {
  name: 'git push',
  context: CONTEXT,
  parentSpanId: '1234567890abcdef',
  startMs: 1_795_386_310_015.25,
  endMs: 1_795_386_310_016,
  attributes: { 'commitlet.engine': 'direct', 'http.response.status_code': 200 },
  links: [{ ...CONTEXT, spanId: 'fedcba0987654321' }],
  failed: true,
}

/** Sends to an endpoint; `env` has further settings. */
function sender(endpoint: string, env: Readonly<Record<string, string>> = {}, caFile?: string) {
  const all = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, ...env }
  const settings = readTraceSettings(all, 'commitlet-test')
  if (settings === undefined) throw new Error('no settings')
  const send = openCollector(settings, { trust: followTrust(caFile), proxies: readProxies(all) })
  return (spans: readonly EndedSpan[] = [SPAN], signal = new AbortController().signal) => send(spans, signal)
}

async function start(t: Test, options: CollectorOptions = {}) {
  const collector = await startCollector(options)
  t.teardown(() => collector.close())
  return collector
}

async function caFile(t: Test): Promise<string> {
  const file = join(t.testdir({}), 'ca.crt')
  await writeFile(file, authority.certPEM)
  return file
}

t.test('an answer that switches protocols is tried again', async (t) => {
  const server = createServer((socket) => {
    socket.once('data', () =>
      socket.write('HTTP/1.1 101 Other\r\nconnection: Upgrade\r\nupgrade: other\r\n\r\n'),
    )
    socket.on('error', () => undefined)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  t.match(await sender(`http://127.0.0.1:${port}`)(), { outcome: 'again' })
})

t.test('spans arrive as OTLP has them, with the headers of the operator', async (t) => {
  const collector = await start(t)
  const send = sender(collector.url, { OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20x' })
  t.strictSame(await send(), { outcome: 'accepted' })
  t.strictSame(await send([{ ...SPAN, parentSpanId: undefined, links: [], failed: false }]), {
    outcome: 'accepted',
  })
  t.strictSame(collector.problems, [])
  t.equal(collector.requests[0]?.authorization, 'Bearer x')
  const [one, other] = collector.spans
  t.strictSame(one, {
    ...{ service: 'commitlet-test', name: 'git push', kind: 3, parentSpanId: '1234567890abcdef' },
    ...{ traceId: CONTEXT.traceId, spanId: CONTEXT.spanId },
    links: [{ traceId: CONTEXT.traceId, spanId: 'fedcba0987654321' }],
    start: 1_795_386_310_015_250_000n,
    end: 1_795_386_310_016_000_000n,
    attributes: { 'commitlet.engine': 'direct', 'http.response.status_code': 200 },
    failed: true,
  })
  t.match(other, { parentSpanId: undefined, links: [], failed: false })
})

t.test('a receiver in the test sees what the protocol does not have', async (t) => {
  const collector = await start(t)
  const body = JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: [] },
        scopeSpans: [{ spans: [{ traceId: 'x', span_id: 'y', name: 'n', attributes: [], status: {} }] }],
      },
    ],
  })
  await fetch(`http://127.0.0.1:${collector.port}/v1/traces`, { method: 'POST', body }).catch(() => undefined)
  t.match(collector.problems.join(), /content-type.*spans\.span_id/)
})

t.test('https needs an authority of CA_FILE', async (t) => {
  const collector = await start(t, { certificate })
  t.strictSame(await sender(collector.url, {}, await caFile(t))(), { outcome: 'accepted' })
  t.match(await sender(collector.url)(), { outcome: 'again', cause: /CERT|ISSUER|SIGNATURE/ })
  t.equal(collector.spans.length, 1)
})

t.test('https goes through the proxy, unless NO_PROXY has the host, and http does not', async (t) => {
  const collector = await start(t, { certificate })
  const plain = await start(t)
  const proxy = await startProxy({ leads: { 'collector.example.com:443': collector.port } })
  t.teardown(() => proxy.close())
  const env = { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}`, NO_PROXY: 'localhost' }
  const ca = await caFile(t)
  t.strictSame(await sender('https://collector.example.com', env, ca)(), { outcome: 'accepted' })
  t.strictSame(proxy.connects, ['collector.example.com:443'])
  t.strictSame(await sender(collector.url, env, ca)(), { outcome: 'accepted' })
  t.strictSame(await sender(plain.url, { ...env, NO_PROXY: '' })(), { outcome: 'accepted' })
  t.equal(proxy.connects.length, 1)
  t.equal(collector.spans.length, 2)
})

/** Passes connections on to a port, with a broken record right behind the first bytes of the server. */
async function breakBehindHandshake(t: Test, port: number): Promise<number> {
  const server = createServer((client) => {
    const further = connect(port, '127.0.0.1').on('error', () => client.destroy())
    client.on('error', () => further.destroy()).pipe(further)
    const broken = Buffer.concat([Buffer.from([23, 3, 3, 0, 64]), Buffer.alloc(64, 1)])
    further.once('data', (bytes: Buffer) => {
      client.write(Buffer.concat([bytes, broken]))
      further.pipe(client)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return (server.address() as AddressInfo).port
}

t.test(
  'a connection through a proxy that breaks right behind its handshake ends that request alone',
  async (t) => {
    const collector = await start(t, { certificate })
    const port = await breakBehindHandshake(t, collector.port)
    const proxy = await startProxy({ leads: { 'collector.example.com:443': port } })
    t.teardown(() => proxy.close())
    const env = { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}`, OTEL_EXPORTER_OTLP_TIMEOUT: '2000' }
    const send = sender('https://collector.example.com', env, await caFile(t))
    t.match(await send(), { outcome: 'again' })
  },
)

t.test('a proxy that refuses, or leads to another server, is not believed', async (t) => {
  const collector = await start(t, { certificate: await authority.issue({ names: ['other'] }) })
  const refusing = await startProxy({ status: 407 })
  const leading = await startProxy({ leads: { 'collector.example.com:443': collector.port } })
  t.teardown(() => Promise.all([refusing.close(), leading.close()]))
  const ca = await caFile(t)
  for (const { port } of [refusing, leading]) {
    const send = sender('https://collector.example.com', { HTTPS_PROXY: `http://127.0.0.1:${port}` }, ca)
    t.match(await send(), { outcome: 'again', cause: String })
  }
  t.strictSame(collector.requests, [])
})

/** What a collector does, and what becomes of the spans. */
const ANSWERS: readonly (readonly [string, CollectorOptions, object])[] = [
  [
    'is full and says when to come again',
    { misbehave: (response) => Boolean(response.writeHead(503, { 'retry-after': '7' }).end()) },
    { outcome: 'again', cause: 'status 503', retryAfterMs: 7_000 },
  ],
  [
    'limits requests',
    { misbehave: (response) => Boolean(response.writeHead(429).end()) },
    { outcome: 'again', cause: 'status 429', retryAfterMs: 0 },
  ],
  [
    'does not understand',
    { misbehave: (response) => Boolean(response.writeHead(400).end('no')) },
    { outcome: 'refused', cause: 'status 400' },
  ],
  [
    'redirects',
    { misbehave: (response) => Boolean(response.writeHead(302, { location: 'http://localhost:1' }).end()) },
    { outcome: 'refused', cause: 'status 302' },
  ],
  ['hangs', { misbehave: () => true }, { outcome: 'again', cause: 'TimeoutError' }],
  [
    'hangs in its answer',
    { misbehave: (response) => response.writeHead(200).write('{') },
    { outcome: 'again', cause: 'TimeoutError' },
  ],
  [
    'answers without an end',
    { misbehave: (response) => Boolean(response.writeHead(200).end('x'.repeat(1_000_000))) },
    { outcome: 'accepted' },
  ],
  [
    'sends interim answers without end',
    {
      misbehave(response) {
        for (let i = 0; i < 5_000; i += 1) response.writeProcessing()
        return false
      },
    },
    { outcome: 'again', cause: 'HPE_HEADER_OVERFLOW' },
  ],
  [
    'breaks off',
    { misbehave: (response) => Boolean(response.destroy()) },
    { outcome: 'again', cause: 'ECONNRESET' },
  ],
]

for (const [what, options, expected] of ANSWERS) {
  t.test(`a collector that ${what}`, async (t) => {
    const collector = await start(t, options)
    const timeout = what.startsWith('hangs') ? '200' : '10000'
    const sent = await sender(collector.url, { OTEL_EXPORTER_OTLP_TIMEOUT: timeout })()
    t.match(sent, expected)
    t.equal(sent.outcome === 'accepted', sent.cause === undefined)
  })
}

t.test('a collector that is not there, and one that the end of the program does not wait for', async (t) => {
  t.match(await sender(`http://127.0.0.1:${await freePort()}`)(), { outcome: 'again', cause: 'ECONNREFUSED' })
  const over = new AbortController()
  const collector = await start(t, { misbehave: () => true })
  const sending = sender(collector.url)([SPAN], over.signal)
  over.abort()
  t.match(await sending, { outcome: 'again', cause: 'AbortError' })
})
