import { once } from 'node:events'
import { createServer as createHTTPServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer as createHTTPSServer } from 'node:https'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { connect as connectTLS } from 'node:tls'
import t from 'tap'
import type { Test } from 'tap'
import { boundConnections, KEPT_MS } from '../../../functions/domain/incoming/connections.ts'
import type { Timing } from '../../../functions/domain/incoming/timing.ts'
import { TIMING } from '../../../functions/net/timing.ts'
import { makeAuthority } from '../../harness/certificates.ts'
import { waitFor } from '../../harness/wait.ts'

/** All waits in a tenth of the time. */
const TENTH: Timing = {
  ...TIMING,
  wait: (milliseconds, signal) => pause(milliseconds / 10, undefined, { signal }),
}

/** A server of HTTP and one of HTTPS, each with what opens a connection to it once it listens. */
async function bothServers(t: Test) {
  const { certPEM: cert, keyPEM: key } = await makeAuthority()
  return [false, true].map((isTLS) => {
    const server = isTLS ? createHTTPSServer({ cert, key }) : createHTTPServer()
    t.teardown(() => server.closeAllConnections())
    function open(): Socket {
      const to = { port: (server.address() as AddressInfo).port, host: '127.0.0.1' }
      const client = isTLS ? connectTLS({ ...to, rejectUnauthorized: false }) : connect(to)
      t.teardown(() => client.destroy())
      return client
    }
    return { isTLS, server, open }
  })
}

/** A server for so many connections; `open` returns the server's end of a new one. */
async function start(t: Test, most = 2, timing = TENTH) {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const connections = boundConnections(server, most, timing)
  const { port } = server.address() as AddressInfo
  const sockets: Socket[] = []
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  async function open(localAddress = '127.0.0.1') {
    const arrives = once(server, 'connection') as Promise<[Socket]>
    const client = connect({ port, host: '127.0.0.1', localAddress })
    const [served] = await arrives
    sockets.push(
      client.on('error', () => undefined),
      served.on('error', () => undefined),
    )
    return served
  }
  return { connections, open }
}

t.test('one more takes the place of the one that has been silent for longest', async (t) => {
  const { connections, open } = await start(t)
  const [first, second] = [await open(), await open()]
  connections.begin(first)?.()
  const third = await open()
  t.strictSame([first.destroyed, second.destroyed, third.destroyed], [false, true, false])
})

t.test('it is one of the address that has most, however silent those of others are', async (t) => {
  const { connections, open } = await start(t, 4)
  const other = await open('127.0.0.2')
  const flood = []
  for (let index = 0; index < 6; index += 1) flood.push(await open())
  t.strictSame(
    flood.map(({ destroyed }) => destroyed),
    [true, true, true, false, false, false],
  )
  for (const socket of flood) connections.hold(socket)
  await open('127.0.0.2')
  t.ok(other.destroyed, 'where all of those are held, it is another one')
})

t.test('an address that needs many for a moment loses none to those that others keep silent', async (t) => {
  let now = 0
  const { connections, open } = await start(t, 8, { ...TENTH, elapsed: () => now })
  const silent = [await open('127.0.0.3'), await open('127.0.0.4'), await open('127.0.0.3')]
  const kept = await open('127.0.0.2')
  now += 2_000
  const busy = []
  for (let index = 0; index < 5; index += 1) busy.push(await open('127.0.0.2'))
  t.strictSame(
    [kept, ...busy, ...silent].map(({ destroyed }) => destroyed),
    [...Array.from({ length: 6 }, () => false), true, false, false],
  )
  for (const socket of busy) connections.hold(socket)
  now += 2_000
  const two = [await open('127.0.0.4'), await open('127.0.0.4')]
  t.strictSame(
    [kept, ...busy, ...silent.slice(1, 2), ...two].map(({ destroyed }) => destroyed),
    [...Array.from({ length: 6 }, () => false), true, false, false],
    'what an address is busy with does not count',
  )
})

t.test('one that is held is not closed, and if all are held, the new one is', async (t) => {
  const { connections, open } = await start(t)
  const [first, second] = [await open(), await open()]
  const release = connections.hold(first)
  const third = await open()
  t.strictSame([first.destroyed, second.destroyed], [false, true])
  connections.hold(third)
  t.ok((await open()).destroyed)
  release()
  await open()
  t.ok(first.destroyed)
})

t.test('one with more than eight requests without an answer is closed', async (t) => {
  const { connections, open } = await start(t)
  const served = await open()
  const releases = Array.from({ length: 8 }, () => connections.begin(served))
  t.ok(releases.every((release) => release !== undefined))
  releases[0]?.()
  t.ok(connections.begin(served), 'an answer makes room')
  t.notOk(served.destroyed)
  const began = performance.now()
  t.equal(connections.begin(served), undefined)
  t.ok(connections.isLast(served))
  await once(served, 'close')
  t.ok(performance.now() - began > 450, 'a flood waits for its end')
})

t.test('one that is slowed down is answered after 5 s, or when it has closed', async (t) => {
  const { connections, open } = await start(t)
  const [first, second] = [await open(), await open()]
  const began = performance.now()
  const slowed = connections.slowDown(first)
  const closed = connections.slowDown(second)
  second.destroy()
  t.equal(await Promise.race([slowed.then(() => 'slowed'), closed.then(() => 'closed')]), 'closed')
  await slowed
  t.ok(performance.now() - began > 450)
  t.notOk(first.destroyed)
})

t.test('requests of one connection that are slowed down wait together', async (t) => {
  const { connections, open } = await start(t)
  const served = await open()
  const before = served.listenerCount('close')
  const [first, second] = [connections.slowDown(served), connections.slowDown(served)]
  t.equal(served.listenerCount('close'), before + 1)
  await Promise.all([first, second])
})

/** A server of HTTP that reads bodies and answers 404; `open` opens a connection and `seen` counts its requests. */
async function startHTTP(t: Test) {
  const seen = { requests: 0, read: 0 }
  const server = createHTTPServer((request, response) => {
    seen.requests += 1
    const release = connections.begin(request.socket)
    if (release === undefined) return
    response.once('close', release)
    request.resume().on('end', () => response.writeHead(404).end())
  })
  const connections = boundConnections(server, 2, TENTH)
  server.on('connection', (socket: Socket) => socket.once('close', () => (seen.read = socket.bytesRead)))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  return { seen, open: () => connect({ port, host: '127.0.0.1' }).on('error', () => undefined) }
}

t.test('requests with an expectation count like all others, also one that HTTP does not know', async (t) => {
  for (const expectation of ['100-continue', 'a miracle']) {
    const { seen, open } = await startHTTP(t)
    const client = open()
    let answer = ''
    client.on('data', (bytes: Buffer) => (answer += bytes.toString()))
    client.write(`GET / HTTP/1.1\r\nhost: x\r\nexpect: ${expectation}\r\n\r\n`.repeat(1_000))
    await once(client, 'close')
    t.ok(seen.requests > 8 && seen.requests < 60, `${seen.requests} requests were parsed`)
    const answers = answer.split('HTTP/1.1 ').length - 1
    t.ok(answers < 60, `${answers} answers`)
  }
})

t.test('of a request no more than a hundred headers are kept', async (t) => {
  for (const { isTLS, server, open } of await bothServers(t)) {
    const kept: number[] = []
    server.on('request', ({ rawHeaders }: IncomingMessage, response: ServerResponse) => {
      kept.push(rawHeaders.length)
      response.end('read')
    })
    server.on('clientError', (_error, socket) => socket.end('HTTP/1.1 431 \r\n\r\n'))
    boundConnections(server, 2, TENTH)
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const ask = (headers: number): Promise<string> => {
      const client = open()
      const names = Array.from({ length: headers }, (_, index) => `x${index}:\r\n`)
      client.write(`GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${names.join('')}\r\n`)
      return text(client)
    }
    t.match(await ask(90), /read$/, `TLS: ${isTLS}`)
    // Some versions of Node refuse such a request, others leave out what is too much.
    t.match(await ask(700), /^HTTP\/1.1 (431 |[^]*\r\nconnection: close\r\n[^]*read$)/i)
    t.ok(kept[0] === 2 * 92 && !kept.some((texts) => texts > 2 * 140), `${kept.join()} texts`)
    server.close()
  }
})

t.test('a connection that sends bytes of no request is closed', async (t) => {
  const upgrade = 'GET / HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n'
  for (const [begin, more] of [
    ['', '\r\n'],
    [upgrade, upgrade],
  ] as const) {
    const { seen, open } = await startHTTP(t)
    const client = open()
    // It may be reset, which is an error.
    const { promise: closed, resolve } = Promise.withResolvers<undefined>()
    client.on('close', () => resolve(undefined)).resume()
    client.write(begin + more.repeat((32 * 1024 * 1024) / more.length))
    await closed
    await waitFor('the end of the connection', () => seen.read > 0 || undefined, 10_000)
    t.ok(seen.read < 4 * 1024 * 1024, `${seen.read} bytes were read`)
  }
})

t.test('one with large bodies is not, and empty lines between requests are allowed', async (t) => {
  const { seen, open } = await startHTTP(t)
  const body = 'x'.repeat(300_000)
  const request = `\r\n\r\nPOST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  const client = open()
  client.write(request.repeat(5))
  client.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
  await once(client.resume(), 'close')
  t.equal(seen.requests, 6)
})

/** A server that answers each request after `turns` of the event loop and reads no body; `opened` are its connections. */
async function startEarly(t: Test, turns = 0) {
  const kept: number[] = []
  const server = createHTTPServer((request, response) => {
    const answer = (): void => {
      kept.push(request.readableLength)
      response.end('early')
    }
    const look = (left: number): unknown => (left === 0 ? answer() : setImmediate(look, left - 1))
    look(turns)
  })
  const opened: Socket[] = []
  boundConnections(server, 2, TENTH)
  server.on('connection', (socket: Socket) => opened.push(socket))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { kept, opened, open: () => connect({ port, host: '127.0.0.1' }).on('error', () => undefined) }
}

const CHUNKED = 'GET / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n'
const LONG = 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 99999999999\r\n\r\n'

for (const [title, head, more] of [
  [
    'after an answer nothing more is read of a body of one-byte chunks, and the connection is closed',
    CHUNKED,
    '1\r\nx\r\n',
  ],
  [
    'after an answer nothing more is read of a body that is announced, and the connection is closed',
    LONG,
    'x',
  ],
] as const) {
  t.test(title, async (t) => {
    const { opened, open } = await startEarly(t)
    const client = open()
    let answer = ''
    client.on('data', (bytes: Buffer) => (answer += bytes.toString()))
    // Its writing may fail, which is an error.
    const { promise: closed, resolve } = Promise.withResolvers<undefined>()
    client.on('close', () => resolve(undefined))
    const began = performance.now()
    client.write(head + more.repeat((32 * 1024 * 1024) / more.length))
    await closed
    t.match(answer, /^HTTP\/1.1 200 OK\r\n[^]*connection: close\r\n[^]*early/i, 'its sender gets the answer')
    t.ok(performance.now() - began > 450, 'a flood waits for its end')
    const [served] = opened
    t.ok(served!.bytesRead < 512 * 1024, `${served!.bytesRead} bytes were read`)
  })
}

t.test('while nobody reads a body, none of it is parsed', async (t) => {
  const { kept, open } = await startEarly(t, 500)
  const client = open()
  client.write(CHUNKED + '1\r\nx\r\n'.repeat(1_000_000))
  const [chunks] = await waitFor('the answer', () => (kept.length > 0 ? kept : undefined), 10_000)
  t.ok(chunks! < 1_024, `${chunks} chunks`)
  client.destroy()
})

t.test('requests without a body, and those whose body was read, leave the connection open', async (t) => {
  for (const [{ open }, request] of [
    [await startEarly(t), 'GET / HTTP/1.1\r\nhost: x\r\n\r\n'],
    [await startEarly(t), 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n'],
    [await startHTTP(t), 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\n\r\nx'],
    [await startHTTP(t), `${CHUNKED}1\r\nx\r\n0\r\n\r\n`],
  ] as const) {
    const client = open()
    let answers = ''
    client.on('data', (bytes: Buffer) => (answers += bytes.toString()))
    for (const many of [1, 2, 3]) {
      client.write(request)
      await waitFor('its answer', () => answers.split('HTTP/1.1 ').length > many || undefined, 10_000)
    }
    t.notMatch(answers, /connection: close/i)
    client.destroy()
  }
})

t.test('one over which nothing comes is closed without an answer, long after its time is over', async (t) => {
  const server = createHTTPServer({ connectionsCheckingInterval: 50 })
  server.headersTimeout = 50
  server.requestTimeout = 50
  const waited: number[] = []
  boundConnections(server, 2, {
    ...TIMING,
    wait: (milliseconds) => Promise.resolve(waited.push(milliseconds)),
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => server.close())
  const client = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' })
  t.equal(await text(client), '')
  t.strictSame(waited, [KEPT_MS])
})

t.test(
  'a server that closes sends the answer that it has begun, and ends the connections without one',
  async (t) => {
    const answer = 'x'.repeat(5_000_000)
    const server = createHTTPServer((request, response) => {
      response.once('close', connections.begin(request.socket) ?? (() => t.fail('no place')))
      response.end(answer)
      if (request.url === '/last') setImmediate(() => server.close())
    }).listen(0, '127.0.0.1')
    const connections = boundConnections(server, 2, TIMING)
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const kept = connect({ port, host: '127.0.0.1' })
    kept.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
    let received = 0
    kept.on('data', (data: Buffer) => (received += data.length))
    await waitFor('the first answer', () => (received > answer.length ? true : undefined), 10_000)
    const last = connect({ port, host: '127.0.0.1' })
    last.write('GET /last HTTP/1.1\r\nhost: x\r\n\r\n')
    const [told] = await Promise.all([text(last), once(server, 'close'), once(kept, 'close')])
    t.ok(told.length > answer.length, `${told.length} characters`)
  },
)

t.test('a request that has come when the time of its connection is over is answered', async (t) => {
  const over = Promise.withResolvers<undefined>()
  const server = createHTTPServer((request, response) => {
    response.once('close', connections.begin(request.socket) ?? (() => t.fail('no place')))
    response.end('told')
  }).listen(0, '127.0.0.1')
  const wait: Timing['wait'] = (milliseconds, signal) =>
    milliseconds === 500 ? over.promise : TIMING.wait(milliseconds, signal)
  const connections = boundConnections(server, 2, { ...TIMING, wait })
  await once(server, 'listening')
  const client = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' })
  let said = ''
  client.on('data', (bytes: Buffer) => (said += bytes.toString()))
  client.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
  await waitFor('the first answer', () => said.includes('told') || undefined, 10_000)
  server.close()
  client.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
  over.resolve(undefined)
  await waitFor(
    'the second answer',
    () => said.split('told').length === 3 || client.destroyed || undefined,
    10_000,
  )
  t.equal(said.split('told').length, 3)
  client.destroy()
})

t.test(
  'an answer that nobody takes holds nothing for long, and does not keep a server from closing',
  async (t) => {
    for (const { server, open } of await bothServers(t)) {
      const ended: ServerResponse[] = []
      const waited: number[] = []
      const connections = boundConnections(server, 2, {
        ...TIMING,
        // In a tenth of the time.
        wait(milliseconds, signal) {
          waited.push(milliseconds)
          return pause(milliseconds / 10, undefined, { signal })
        },
      })
      server.on('request', (request: IncomingMessage, response: ServerResponse) => {
        response.once('close', connections.begin(request.socket) ?? (() => t.fail('no place')))
        ended.push(response.end('x'.repeat(20_000_000)))
      })
      await once(server.listen(0, '127.0.0.1'), 'listening')
      const client = open()
      client.pause().write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
      const [response] = await waitFor('an answer', () => (ended.length > 0 ? ended : undefined), 10_000)
      const closed = once(server.close(), 'close', { signal: AbortSignal.timeout(10_000) })
      await once(response!, 'close', { signal: AbortSignal.timeout(10_000) })
      await closed
      t.strictSame(waited, [10_000, 500])
    }
  },
)

t.test(
  'a request that never ends does not keep a server from closing, and no other one is ended',
  async (t) => {
    for (const { isTLS, server, open } of await bothServers(t)) {
      const waiting: ServerResponse[] = []
      server.on('request', (request: IncomingMessage, response: ServerResponse) => {
        response.once('close', connections.begin(request.socket) ?? (() => t.fail('no place')))
        request.resume().on('end', () => waiting.push(response))
      })
      const connections = boundConnections(server, 2, TENTH)
      await once(server.listen(0, '127.0.0.1'), 'listening')
      const begin = (body: string): Socket => {
        const client = open()
        client.write(`POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n${body}`)
        return client
      }
      const whole = begin('ab')
      await waitFor('a request', () => waiting[0], 10_000)
      const endless = begin('a')
      await once(server, 'request')
      connections.closeSilent()
      const closed = once(server.close(), 'close', { signal: AbortSignal.timeout(10_000) })
      await once(endless, 'close', { signal: AbortSignal.timeout(10_000) })
      waiting[0]?.end('answered')
      t.match(await text(whole), /answered/, `TLS: ${isTLS}`)
      await closed
    }
  },
)
