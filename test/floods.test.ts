import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { ServerResponse } from 'node:http'
import { readFile } from 'node:fs/promises'
import { connect, createServer as createPlainServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { connect as connectSecurely } from 'node:tls'
import t from 'tap'
import type { Test } from 'tap'
import { EVENT, EVENT_HEAD } from './event-request.ts'
import { makeAuthority } from './harness/certificates.ts'
import { BUNDLES, startFunction, startWebhook } from './harness/programs.ts'
import type { Program } from './harness/programs.ts'
import { sample } from './harness/sample.ts'
import { waitFor } from './harness/wait.ts'
import { call, gitCommit, reviewOf, writePair } from './webhook/stage.ts'
import type { Posted } from './webhook/stage.ts'

const MIB = 1024 * 1024
/** From the sources, and with their lines counted, the programs take more memory. */
const ROOM = process.env[BUNDLES] === undefined ? 1.6 : 1
/** Ten times what a probe is promised on a busy machine. */
const PROBE_MS = 10_000
/** A program that needs more ends: it would take a gigabyte and more of the machine. */
const HEAP = { NODE_OPTIONS: '--max-old-space-size=256' }

/** Sends the content and returns what comes back until the connection ends. */
async function send(socket: Socket, content: Buffer | string): Promise<string> {
  let answer = ''
  const { promise: closed, resolve } = Promise.withResolvers<undefined>()
  socket.on('error', () => undefined).on('close', () => resolve(undefined))
  socket.on('data', (chunk: Buffer) => (answer += chunk.toString()))
  socket.write(content)
  await closed
  return answer
}

/** Requests one after the other, without waiting for answers; after the last one the server closes the connection. */
function piped(head: string, bodies: readonly string[]): string {
  const requests = bodies.map((body, index) => {
    const last = index === bodies.length - 1 ? 'connection: close\r\n' : ''
    return `${head}\r\n${last}content-length: ${body.length}\r\n\r\n${body}`
  })
  return requests.join('')
}

/** A request with one byte in each chunk of its body (RFC 9112, 7.1). */
function inBytes(head: string, content: string): Buffer {
  const bytes = Buffer.from(content)
  const body = Buffer.alloc(bytes.length * 6, '1\r\n \r\n')
  for (const [index, byte] of bytes.entries()) body[index * 6 + 3] = byte
  const start = `${head}\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n`
  return Buffer.concat([Buffer.from(start), body, Buffer.from('0\r\n\r\n')])
}

/** An API server that answers nothing until it is opened, and then that nothing exists. */
async function startApiServer(t: Test) {
  const waiting = new Set<ServerResponse>()
  const seen = { open: false, most: 0 }
  const answer = (response: ServerResponse): unknown =>
    response.writeHead(404, { 'content-type': 'application/json' }).end('{"kind":"Status","code":404}')
  const server = createServer(({ url = '' }, response) => {
    // The function reads it once at its start.
    if (seen.open || url.includes('/endpointslices')) return void answer(response)
    waiting.add(response)
    // A read that has waited for too long is given up.
    response.once('close', () => waiting.delete(response))
    seen.most = Math.max(seen.most, waiting.size)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return {
    seen,
    open() {
      seen.open = true
      for (const response of waiting) answer(response)
    },
    config: configOf(port),
  }
}

function configOf(port: number): string {
  return JSON.stringify({
    clusters: [
      { name: 'test', cluster: { server: `http://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true } },
    ],
    users: [{ name: 'test', user: { token: 'none' } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
    'current-context': 'test',
  })
}

/** The most memory that the process has had, in MiB (proc_pid_status(5)). */
async function peakMiB({ pid }: Program): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024
}

async function probe(ask: () => Promise<number>): Promise<number> {
  const began = performance.now()
  return (await ask()) === 200 ? performance.now() - began : Infinity
}

async function floodFunction(t: Test): Promise<void> {
  const apiServer = await startApiServer(t)
  const dir = t.testdir({ kubeconfig: apiServer.config })
  const program = await startFunction({ env: { ...HEAP, KUBECONFIG: join(dir, 'kubeconfig') } })
  t.teardown(() => program.kill())
  await program.ready(100_000)
  const { port } = program
  const open = (): Socket => connect({ port, host: '127.0.0.1' })
  const live = () => probe(async () => (await fetch(`${program.url}/health/liveness`)).status)
  const events = (many: number): string =>
    piped(
      EVENT_HEAD,
      Array.from({ length: many }, (_, name) => JSON.stringify({ ...EVENT, name: `shop-${name}` })),
    )

  await t.test('bodies of 3 MiB in chunks of one byte', async (t) => {
    const request = inBytes(EVENT_HEAD, JSON.stringify(EVENT).padEnd(3 * MIB))
    const answers = Array.from({ length: 4 }, () => send(open(), request))
    t.ok((await live()) < PROBE_MS)
    for (const answer of await Promise.all(answers)) t.match(answer, /^(HTTP\/1.1 400 [^]*pieces|$)/)
  })

  await t.test('thousands of events in one connection that do not wait for answers', async (t) => {
    const flood = Array.from({ length: 20 }, () => send(open(), events(2_000)))
    t.ok((await live()) < PROBE_MS)
    for (const answer of await Promise.all(flood)) t.equal(answer, '')
  })

  await t.test('more events than can be in hand', async (t) => {
    const flood = Array.from({ length: 200 }, () => send(open(), events(8)))
    const full = async (): Promise<string | undefined> => {
      const waiting = send(open(), events(1))
      const answer = await Promise.race([waiting, pause(7_000, '', { ref: false })])
      return answer.startsWith('HTTP/1.1 503') ? answer : undefined
    }
    t.match(await waitFor('refusal', full, 30_000), /\r\nretry-after: [1-9]/i)
    t.ok((await live()) < PROBE_MS)
    await waitFor('reads of the API server', () => apiServer.seen.most > 0 || undefined, 30_000)
    // Fewer where earlier ones have had no answer.
    t.ok(apiServer.seen.most <= 32, `${apiServer.seen.most} reads of the API server at once`)
    apiServer.open()
    const answers = await Promise.all(flood)
    t.ok(answers.every((answer) => /^HTTP\/1.1 (202|503)/.test(answer)))
    t.ok(answers.join('').includes('HTTP/1.1 202'), 'what was in hand is handled')
    t.match(await send(open(), events(1)), /^HTTP\/1.1 202/, 'the room is given back')
  })

  const peak = await peakMiB(program)
  t.ok(peak < 400 * ROOM, `${peak} MiB`)
}

async function floodWebhook(t: Test): Promise<void> {
  const apiServer = await startApiServer(t)
  const dir = t.testdir({ kubeconfig: apiServer.config })
  const { certPEM: ca, ...authority } = await makeAuthority()
  const { certFile, keyFile } = await writePair(dir, { certPEM: ca, ...authority })
  const program = await startWebhook({
    env: { ...HEAP, KUBECONFIG: join(dir, 'kubeconfig'), TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile },
  })
  t.teardown(() => program.kill())
  await program.ready(100_000)
  const { port } = program
  const open = (): Socket => connectSecurely({ port, host: '127.0.0.1', ca })
  const live = () => probe(async () => (await call({ port, ca }, '/health/liveness')).status)
  const HEAD = 'POST /mutate HTTP/1.1\r\nhost: x\r\ncontent-type: application/json'
  const REVIEW = JSON.stringify(reviewOf(gitCommit()))

  await t.test('bodies of 2 MB in chunks of one byte', async (t) => {
    const request = inBytes(HEAD, REVIEW.padEnd(2_000_000))
    const answers = Array.from({ length: 3 }, () => send(open(), request))
    t.ok((await live()) < PROBE_MS)
    for (const answer of await Promise.all(answers)) t.match(answer, /^(HTTP\/1.1 400 [^]*pieces|$)/)
  })

  await t.test('more reviews than can be in hand', async (t) => {
    const reviews = piped(
      HEAD,
      Array.from({ length: 8 }, () => REVIEW),
    )
    const flood = Array.from({ length: 60 }, () => send(open(), reviews))
    const full = async (): Promise<Posted | undefined> => {
      const waiting = call({ port, ca }, '/mutate', REVIEW)
      const answer = await Promise.race([waiting, pause(3_000, undefined, { ref: false })])
      return answer?.status === 503 ? answer : undefined
    }
    t.match(await waitFor('refusal', full, 30_000), {
      body: { kind: 'Status', reason: 'ServiceUnavailable' },
    })
    t.ok((await live()) < PROBE_MS)
    apiServer.open()
    const answers = await Promise.all(flood)
    t.ok(answers.every((answer) => /^HTTP\/1.1 (200|503)/.test(answer)))
    t.ok(answers.join('').includes('HTTP/1.1 200'), 'what was in hand is decided')
    t.equal((await call({ port, ca }, '/mutate', REVIEW)).status, 200, 'the room is given back')
  })

  const peak = await peakMiB(program)
  t.ok(peak < 320 * ROOM, `${peak} MiB`)
}

async function answerInBytes(t: Test): Promise<void> {
  const answer = inBytes('HTTP/1.1 200 OK\r\ncontent-type: application/json', '"'.padEnd(4 * MIB - 1) + '"')
  const server = createPlainServer((socket) => {
    socket.on('error', () => undefined).once('data', () => socket.end(answer))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const dir = t.testdir({ kubeconfig: configOf(port) })
  const source = `
    import { openApiServer } from ${sourceOf('functions/cluster/api-server.ts')}
    import { openHTTP } from ${sourceOf('functions/http/http.ts')}
    import { followTrust } from ${sourceOf('functions/net/trust.ts')}
    const call = openHTTP({
      resolve: async () => ['127.0.0.1'],
      proxies: { proxy: undefined, exceptions: [] },
      insecureHosts: [{ host: 'git.example.com', port: ${port} }],
      trust: followTrust(undefined),
    })
    const url = 'http://git.example.com:${port}/'
    const get = { method: 'GET', headers: {} }
    const answers = [1, 2, 3].map(() => call(url, AbortSignal.timeout(60_000), (fetch) => fetch(url, get)))
    answers.push(openApiServer()({ method: 'GET', path: '/version' }))
    const reasons = (await Promise.allSettled(answers)).map(({ reason }) => reason?.reason)
    console.log(JSON.stringify({ reasons, peak: process.resourceUsage().maxRSS / 1024 }))`
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', source], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env['PATH'], ...HEAP, KUBECONFIG: join(dir, 'kubeconfig') },
  })
  const { reasons, peak } = JSON.parse(await text(child.stdout))
  t.strictSame(reasons, [...Array(3).fill('ProviderUnavailable'), 'NotSupported'])
  t.ok(peak < 500, `${peak} MiB`)
}

// Whole programs: the bounds by themselves are tested in app-bounds.test.ts of both, and in test/http and test/cluster.
const floods = [
  ['the function lives through bodies of single bytes and a flood of events', floodFunction],
  ['the webhook lives through reviews of single bytes and a flood of reviews', floodWebhook],
  ['answers of single bytes, of a host and of the API server, take little memory', answerInBytes],
] as const
for (const [title, flood] of sample(floods, () => 'a flood')) t.test(title, flood)

function sourceOf(file: string): string {
  return JSON.stringify(new URL(`../${file}`, import.meta.url).href)
}
