import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import type { Test } from 'tap'
import type { Timing } from '../../functions/domain/incoming/timing.ts'
import { TIMING } from '../../functions/net/timing.ts'
import { serveMetrics } from '../../functions/telemetry/metrics-server.ts'
import { sendEndlessBody } from '../harness/endless-body.ts'
import { waitFor } from '../harness/wait.ts'

/** A server whose text counts how often it was made. */
async function start(t: Test, timing?: Timing) {
  let made = 0
  const source = { contentType: 'text/plain; version=0.0.4', text: async () => `made ${(made += 1)}\n` }
  const server = await serveMetrics(source, 0, timing)
  t.teardown(server.close)
  return { url: `http://127.0.0.1:${server.port}`, port: server.port, made: () => made }
}

t.test('GET /metrics answers the text with its content type', async (t) => {
  const { url } = await start(t)
  const answer = await fetch(`${url}/metrics`)
  t.equal(answer.status, 200)
  t.equal(answer.headers.get('content-type'), 'text/plain; version=0.0.4')
  t.equal(await answer.text(), 'made 1\n')
})

t.test('several scrapes within a second share one text', async (t) => {
  const { url, made } = await start(t)
  const texts = await Promise.all(
    Array.from({ length: 5 }, async () => (await fetch(`${url}/metrics`)).text()),
  )
  t.strictSame(new Set(texts), new Set(['made 1\n']))
  t.equal(made(), 1)
})

t.test('nothing else is there, and who asks for it waits for the refusal', async (t) => {
  const waited: number[] = []
  const { url } = await start(t, {
    ...TIMING,
    wait: async (milliseconds) => void waited.push(milliseconds),
  })
  t.equal((await fetch(`${url}/`)).status, 404)
  t.equal((await fetch(`${url}/metrics`, { method: 'POST', body: 'x' })).status, 404)
  t.strictSame(waited, [5_000, 5_000])
})

t.test('a scrape with a body is answered, and its body is not read', async (t) => {
  const waited: number[] = []
  const { port } = await start(t, {
    ...TIMING,
    wait: async (milliseconds) => void waited.push(milliseconds),
  })
  const client = connect(port, '127.0.0.1')
  const answer = await sendEndlessBody(client, 'GET /metrics HTTP/1.1')
  t.match(answer, /^HTTP\/1\.1 200 OK\r\n[^]*\r\nconnection: close\r\n/i)
  t.strictSame(waited, [5_000])
})

t.test('what is no HTTP ends its connection', async (t) => {
  const { port } = await start(t)
  const client = connect(port, '127.0.0.1').on('error', () => undefined)
  client.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
  await once(client, 'close', { signal: AbortSignal.timeout(10_000) })
})

t.test('a flood over many connections makes one text a second, and 16 connections stay', async (t) => {
  const { port, made } = await start(t)
  const flood = Array.from({ length: 40 }, () => connect(port, '127.0.0.1'))
  t.teardown(() => flood.forEach((socket) => socket.destroy()))
  let answers = 0
  const began = performance.now()
  for (const socket of flood) {
    socket.on('error', () => undefined)
    socket.on('data', (bytes) => (answers += bytes.toString().split('HTTP/1.1 200').length - 1))
    socket.write('GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(100))
  }
  const left = await waitFor(
    '16 connections',
    () => {
      const open = flood.filter((socket) => !socket.closed).length
      return open <= 16 ? open : undefined
    },
    5_000,
  )
  t.ok(left <= 16)
  // On a quiet machine 40.
  t.ok(answers <= 400, `${answers} of 4,000 requests were answered`)
  const seconds = (performance.now() - began) / 1_000
  t.ok(made() <= seconds + 2, `${made()} texts in ${seconds} s`)
})

t.test('whoever floods it leaves others their answers', async (t) => {
  const { port } = await start(t)
  const scrape = (localAddress: string): Promise<IncomingMessage> => {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    get({ port, path: '/metrics', host: '127.0.0.1', localAddress, agent: false }, resolve).on(
      'error',
      reject,
    )
    return promise
  }
  for (let scrapes = 0; scrapes < 20; scrapes += 1) (await scrape('127.0.0.2')).resume()
  void scrape('127.0.0.2').catch(() => undefined)
  const answer = await scrape('127.0.0.1')
  t.equal(answer.statusCode, 200)
  t.match(await text(answer), 'made ')
})

t.test('a port that is in use rejects', async (t) => {
  const { port } = await start(t)
  const source = { contentType: 'text/plain', text: async () => '' }
  await t.rejects(serveMetrics(source, port), { code: 'EADDRINUSE' })
})
