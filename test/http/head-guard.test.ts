import type { Socket } from 'node:net'
import t from 'tap'
import type { Test } from 'tap'
import type { ConnectionTarget } from '../../functions/http/connection.ts'
import { keepConnection, type KeptConnection } from '../../functions/http/kept-connection.ts'
import { followTrust } from '../../functions/net/trust.ts'
import { waitFor } from '../harness/wait.ts'
import { CA_FILE, call, callRaw, serve, serveRaw, urlOf } from './stage.ts'

const trust = await followTrust(CA_FILE).context()
const BOUNDS = { most: 2_000_000, take: () => () => undefined }
const GET = { method: 'GET', path: '/', headers: {}, timeoutMs: 10_000 } as const
const MIB = 1024 * 1024

const EARLY = 'HTTP/1.1 103 Early Hints\r\n\r\n'
const FLOODS = [
  ['103 Early Hints', EARLY],
  ['102 Processing', 'HTTP/1.1 102 Processing\r\n\r\n'],
  ['empty lines', '\r\n'],
] as const

function connect(t: Test, port: number, scheme: 'http' | 'https'): KeptConnection {
  const target: ConnectionTarget = {
    destination: { scheme, host: 'git.example.com', port },
    route: { addresses: ['127.0.0.1'], proxy: undefined, insecure: false },
    trust,
    shownHost: 'git.example.com',
    signal: new AbortController().signal,
  }
  const connection = keepConnection(target)
  t.teardown(() => connection.close())
  return connection
}

/** Writes the text for ever, as fast as it is read; returns how many bytes were taken. */
function pump(socket: Socket, text: string): () => number {
  const bytes = Buffer.from(text.repeat(Math.ceil(64_000 / text.length)))
  const write = (): void => {
    while (!socket.destroyed && socket.writable) if (!socket.write(bytes)) return
  }
  socket.on('error', () => undefined).on('drain', write)
  write()
  return () => socket.bytesWritten
}

for (const [title, text] of FLOODS) {
  t.test(`${title} without end instead of an answer of an API is ProviderUnavailable`, async (t) => {
    let taken = (): number => 0
    const place = await serve(t, ({ socket }) => (taken = pump(socket, text)))
    const failure = await call(urlOf(place), { timeoutMs: 5_000 })
    t.match(failure, { reason: 'ProviderUnavailable', message: /^git\.example\.com:\d+ .*64 KiB/ })
    await waitFor('end of the connection', () => place.open.size === 0 || undefined, 5_000)
    t.ok(taken() < 32 * MIB, `${taken()} bytes were taken`)
  })

  t.test(`${title} without end instead of an answer of a Git server is ProviderUnavailable`, async (t) => {
    const place = await serveRaw(t, (socket) => socket.once('data', () => pump(socket, text)))
    const sent = connect(t, place.port, 'http').send({ ...GET, timeoutMs: 5_000 }, BOUNDS)
    await t.rejects(sent, { reason: 'ProviderUnavailable', message: /64 KiB/ })
    await waitFor('end of the connection', () => place.open.size === 0 || undefined, 5_000)
  })
}

const CHUNKED = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'
/** An answer that begins so, and what is repeated after it. */
const AROUND = [
  ['a chunk extension', `${CHUNKED}1;a=`, 'a'],
  ['a chunk extension after data', `${CHUNKED}2000\r\n${'x'.repeat(0x2000)}\r\n1;a=`, 'a'],
  ['chunks with long extensions', CHUNKED, `40;a=${'a'.repeat(1_000)}\r\n${'x'.repeat(64)}\r\n`],
  ['trailers', `${CHUNKED}1\r\nx\r\n0\r\n`, 'a: b\r\n'],
] as const

for (const [title, start, text] of AROUND) {
  const flood = (socket: Socket): (() => number) => {
    socket.write(start)
    return pump(socket, text)
  }
  t.test(`${title} without end in an answer of an API is ProviderUnavailable`, async (t) => {
    let taken = (): number => 0
    const place = await serve(t, ({ socket }) => (taken = flood(socket)))
    const failure = await call(urlOf(place), { timeoutMs: 5_000 })
    t.match(failure, { reason: 'ProviderUnavailable', message: /^git\.example\.com:\d+ answered with more/ })
    await waitFor('end of the connection', () => place.open.size === 0 || undefined, 5_000)
    t.ok(taken() < 32 * MIB, `${taken()} bytes were taken`)
  })

  t.test(`${title} without end in an answer of a Git server is ProviderUnavailable`, async (t) => {
    const place = await serveRaw(t, (socket) => socket.once('data', () => flood(socket)))
    const sent = connect(t, place.port, 'http').send({ ...GET, timeoutMs: 5_000 }, BOUNDS)
    await t.rejects(sent, { reason: 'ProviderUnavailable', message: /answered with more/ })
    await waitFor('end of the connection', () => place.open.size === 0 || undefined, 5_000)
  })
}

t.test('small chunks are read, and those that the reader of the body is not ready for', async (t) => {
  const small = '1\r\nx\r\n'.repeat(1_000)
  const large = `20000\r\n${'x'.repeat(0x20000)}\r\n`.repeat(7)
  const answer = Buffer.from(`${CHUNKED}${small}${large}0\r\n\r\n`)
  const place = await serveRaw(t, (socket) => socket.on('data', () => socket.write(answer)))
  const connection = connect(t, place.port, 'http')
  for (let requests = 0; requests < 3; requests += 1) {
    const { body } = await connection.send(GET, BOUNDS)
    t.equal(body?.bytes.length, 1_000 + 7 * 0x20000)
  }
  t.equal(place.connections.length, 1)
})

t.test('empty lines without end after an answer end the connection', async (t) => {
  const place = await serve(t, ({ socket }, response) => {
    response.end('ok', () => pump(socket, '\r\n'))
  })
  const connection = connect(t, place.port, 'https')
  t.match(await connection.send(GET, BOUNDS), { status: 200 })
  await waitFor('end of the connection', () => place.open.size === 0 || undefined, 5_000)
})

t.test('some interim answers are read past, and large bodies are not counted', async (t) => {
  const body = 'x'.repeat(300_000)
  const answer = `${EARLY.repeat(500)}HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  const place = await serveRaw(t, (socket) => socket.on('data', () => socket.write(answer)))
  const connection = connect(t, place.port, 'http')
  for (let requests = 0; requests < 5; requests += 1) {
    const { status, body: read } = await connection.send(GET, BOUNDS)
    t.match([status, read?.bytes.length], [200, body.length])
  }
  t.equal(place.connections.length, 1)
  t.match(await callRaw(t, answer), { status: 200 })
})

t.test('what it takes to read what comes is counted, also of an answer without data', async (t) => {
  let counted = 0
  let times = 0
  const count = (milliseconds: number): void => {
    counted += milliseconds
    times += 1
  }
  const answer = await callRaw(t, `${EARLY.repeat(500)}HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n`, {
    settings: { count },
  })
  t.match(answer, { status: 200 })
  t.ok(times > 1 && counted > 0.7, 'the connection has 0.7 ms')
})

t.test('each byte of an answer is counted, however fast it is read', async (t) => {
  let counted = 0
  const count = (milliseconds: number): void => {
    counted += milliseconds
  }
  const body = 'x'.repeat(3 * 1024 * 1024)
  const answer = await callRaw(t, `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`, {
    settings: { count },
  })
  t.match(answer, { status: 200 })
  t.ok(counted > 15, `${counted} ms, and 5 for each MiB`)
})
