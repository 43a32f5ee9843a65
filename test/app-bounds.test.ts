import { createSecretKey, type KeyObject } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import pino from 'pino'
import t from 'tap'
import type { Test } from 'tap'
import { buildApp } from '../functions/app.ts'
import { sourceKeyOf } from '../functions/arrival/source-key.ts'
import { SENDER_SIGNATURE, SENDER_TIME, senderSignature } from '../functions/domain/event/sender-signature.ts'
import { MOST_EVENTS, MOST_UNSIGNED } from '../functions/event-places.ts'
import type { Timing } from '../functions/domain/incoming/timing.ts'
import { TIMING } from '../functions/net/timing.ts'
import { EVENT, EVENT_HEAD } from './event-request.ts'
import { sendEndlessBody } from './harness/endless-body.ts'
import { waitFor } from './harness/wait.ts'
import { drawnTests } from './harness/drawn-test.ts'

const drawn = drawnTests(t, 3)

const MIB = 1024 * 1024
/** What an event may have, and how many of those the room for bodies takes; 1 MiB is left. */
const LARGEST = 3 * MIB
const FITTING = 21
const EVENT_TEXT = JSON.stringify(EVENT)

/** Refusals come in a tenth of their time. */
const QUICK: Timing = {
  ...TIMING,
  wait: (milliseconds, signal) => pause(milliseconds / 10, undefined, { signal }),
}

interface Keyed {
  readonly stampKey?: KeyObject
  readonly now?: () => Date
}

async function start(t: Test, handle: () => Promise<void> = () => Promise.resolve(), keyed: Keyed = {}) {
  const { stampKey, ...timed } = keyed
  const seen = { requests: 0, handled: 0 }
  const app = buildApp(
    () => {
      seen.handled += 1
      return handle()
    },
    pino({ level: 'silent' }),
    { ...(stampKey === undefined ? {} : { stampKeys: [stampKey] }), timing: QUICK, ...timed },
  )
  app.server.on('request', () => (seen.requests += 1))
  const sockets: Socket[] = []
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    return app.close()
  })
  const port = Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port)
  function send(length: string, body: string, before = ''): Socket {
    const socket = connect({ port, host: '127.0.0.1' })
    sockets.push(socket)
    socket
      .on('error', () => undefined)
      .write(`${before}${EVENT_HEAD}\r\nconnection: close\r\n${length}\r\n\r\n${body}`)
    return socket
  }
  return { app, port, seen, sockets, send }
}

function event(bytes: number, namespace = EVENT.namespace): readonly [length: string, body: string] {
  const start = `${JSON.stringify({ ...EVENT, namespace }).slice(0, -1)},"filler":"`
  return [`content-length: ${bytes}`, `${start}${'x'.repeat(bytes - start.length - 2)}"}`]
}

/** Takes all places of events without a signature, each for another namespace. */
function fillUnsigned(send: (length: string, body: string, before: string) => unknown): void {
  for (let index = 0; index < MOST_UNSIGNED; index += 8) {
    const [last, ...others] = Array.from({ length: 8 }, (_, more) => event(400, `team-${index + more}`))
    const before = others.map(([length, body]) => `${EVENT_HEAD}\r\n${length}\r\n\r\n${body}`)
    send(...(last ?? event(400)), before.join(''))
  }
}

t.test('events that do not end take 64 MiB at most: the oldest gives way', async (t) => {
  const { app, send } = await start(t)
  let read = 0
  app.server.on('request', (request: IncomingMessage) => {
    request.on('data', (chunk: Buffer) => (read += chunk.length))
  })
  const body = ' '.repeat(LARGEST - 1)
  const announced = [`content-length: ${LARGEST}`, body] as const
  const chunked = ['transfer-encoding: chunked', `${body.length.toString(16)}\r\n${body}\r\n`] as const
  const senders = Array.from({ length: FITTING }, (_, index) => {
    const [length, sent] = index % 2 === 0 ? announced : chunked
    return send(length, sent)
  })
  const [oldest, ...others] = senders.map((socket) => text(socket).catch(String))
  await waitFor('their bodies', () => (read === FITTING * body.length ? true : undefined), 30_000)
  t.match(await text(send(...event(400))), /^HTTP\/1.1 202/, 'a small one finds room')
  t.match(await text(send(...event(2 * MIB))), /^HTTP\/1.1 202/, 'a large one gets it')
  t.match(await oldest, /^HTTP\/1.1 503 [^]*\r\nretry-after: [1-9][^]*"Too many events[^"]*\."\}$/i)
  t.equal(await Promise.race([...others, pause(0, 'open')]), 'open', 'no more than needed')
})

drawn('bodies that were announced and do not come take no room', async (t) => {
  const sending = await start(t)
  for (let index = 0; index < 2 * FITTING; index += 1) sending.send(`content-length: ${LARGEST}`, '')
  await waitFor('their heads', () => (sending.seen.requests === 2 * FITTING ? true : undefined), 10_000)
  t.match(await text(sending.send(...event(2 * MIB))), /^HTTP\/1.1 202/)
})

drawn('events that have been handled hold no room, and probes need none', async (t) => {
  const { promise: finished, resolve: finish } = Promise.withResolvers<undefined>()
  const sending = await start(t, () => finished)
  const answers: Promise<string>[] = []
  // Those that are on their way at the same moment have room.
  for (const handled of [FITTING, 2 * FITTING]) {
    for (let i = 0; i < FITTING; i += 1) answers.push(text(sending.send(...event(2 * MIB))))
    await waitFor(`${handled} attempts`, () => (sending.seen.handled === handled ? true : undefined), 30_000)
  }
  const probe = await fetch(`http://127.0.0.1:${sending.port}/health/readiness`)
  t.equal(probe.status, 200)
  finish(undefined)
  for (const answer of await Promise.all(answers)) t.match(answer, /^HTTP\/1.1 202/)
})

t.test(
  'of large events that are complete at the same moment, one is read in a turn of the event loop',
  async (t) => {
    let turn = 0
    const turns: number[] = []
    const { app, port, sockets } = await start(t, () => Promise.resolve(void turns.push(turn)))
    let read = 0
    app.server.on('request', (request: IncomingMessage) => {
      request.on('data', (chunk: Buffer) => (read += chunk.length))
    })
    const [length, body] = event(100_000)
    const begun = Array.from({ length: 8 }, () => {
      const socket = connect({ port, host: '127.0.0.1' }).on('error', () => undefined)
      sockets.push(socket)
      socket.write(`${EVENT_HEAD}\r\n${length}\r\n\r\n${body.slice(0, -1)}`)
      return socket
    })
    await waitFor('all but their ends', () => (read === 8 * 99_999 ? true : undefined), 10_000)
    const count = (): void => {
      turn += 1
      if (turns.length < 8) setImmediate(count)
    }
    count()
    for (const socket of begun) socket.write('}')
    await waitFor('all of them', () => (turns.length === 8 ? true : undefined), 10_000)
    t.equal(new Set(turns).size, 8, turns.join(' '))
  },
)

drawn('an event in many small pieces is refused, and one in fewer is read', async (t) => {
  const { send, seen } = await start(t)
  const inPieces = (many: number): string => `${'1\r\n \r\n'.repeat(many)}0\r\n\r\n`
  const head = `${EVENT_TEXT.length.toString(16)}\r\n${EVENT_TEXT}\r\n`
  t.match(await text(send('transfer-encoding: chunked', head + inPieces(1_000))), /^HTTP\/1.1 202/)
  t.match(await text(send('transfer-encoding: chunked', head + inPieces(1_100))), /^HTTP\/1.1 400 [^]*pieces/)
  t.equal(seen.handled, 1)
})

drawn('a whole event has 30 s to come', async (t) => {
  const { app } = await start(t)
  // Node goes by the longer of the two.
  t.same([app.server.headersTimeout, app.server.requestTimeout], [30_000, 30_000])
})

drawn(
  'events above the limit in hand are refused until one is handled, also if their senders leave',
  async (t) => {
    const { promise: finished, resolve: finish } = Promise.withResolvers<undefined>()
    const { send, seen, sockets } = await start(t, () => finished)
    // Eight requests of each connection may wait for their answers.
    const [length, body] = event(400)
    const eight = `${EVENT_HEAD}\r\n${length}\r\n\r\n${body}`.repeat(7)
    // A namespace gets no more than it leaves free.
    const most = MOST_EVENTS / 2
    for (let index = 0; index < most / 8; index += 1) send(length, body, eight)
    await waitFor('all in hand', () => (seen.handled === most ? true : undefined), 30_000)
    t.match(await text(send(length, body)), /^HTTP\/1.1 503 [^]*\r\nretry-after: [1-9]/i)
    send(length, body.replace('"team"', '"mate"'))
    await waitFor('event of another', () => (seen.handled > most ? true : undefined), 30_000)
    for (const socket of sockets) socket.destroy()
    t.match(await text(send(length, body)), /^HTTP\/1.1 503/, 'they are still handled')
    finish(undefined)
    t.match(await text(send(length, body)), /^HTTP\/1.1 202/)
  },
)

t.test('a body at another path is not read, and its refusal waits', async (t) => {
  const { app, port, sockets } = await start(t)
  let read = 0
  app.server.on('request', (request: IncomingMessage) => {
    request.on('data', (chunk: Buffer) => (read += chunk.length))
  })
  const [length, body] = event(LARGEST)
  const socket = connect({ port, host: '127.0.0.1' })
  sockets.push(socket)
  const began = performance.now()
  socket
    .on('error', () => undefined)
    .write(`${EVENT_HEAD.replace('POST / ', 'POST /x ')}\r\n${length}\r\n\r\n${body}`)
  t.match(await text(socket), /^HTTP\/1.1 404 [^]*There is nothing here/)
  t.ok(performance.now() - began > 450)
  t.ok(read < 512 * 1024, `${read} bytes`)
})

t.test('of addresses that cannot be read, few are answered, and that waits', async (t) => {
  const { port, seen, sockets } = await start(t)
  const socket = connect({ port, host: '127.0.0.1' }).on('error', () => undefined)
  sockets.push(socket)
  const began = performance.now()
  socket.write('GET /% HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(2_000))
  const answers = await text(socket).catch(String)
  t.ok(performance.now() - began > 450)
  t.ok(seen.requests <= 40, `${seen.requests} requests`)
  t.ok(answers.split('HTTP/1.1 400').length <= 9, answers.slice(0, 400))
})

for (const [title, head, status] of [
  ['after the answer to a probe its body is not read', 'GET /health/liveness HTTP/1.1', 200],
  ['after the answer to an address that cannot be read its body is not read', 'POST /%zz HTTP/1.1', 400],
  [
    'after the answer to a content type that is none its body is not read',
    'POST / HTTP/1.1\r\ncontent-type: ;;;',
    400,
  ],
] as const) {
  t.test(title, async (t) => {
    const { app, port, sockets } = await start(t)
    let served: Socket | undefined
    app.server.on('connection', (socket: Socket) => (served = socket))
    const socket = connect({ port, host: '127.0.0.1' })
    sockets.push(socket)
    const answer = await sendEndlessBody(socket, head)
    t.ok(answer.startsWith(`HTTP/1.1 ${status} `), answer)
    t.match(answer, /\r\nconnection: close\r\n/i)
    t.ok(served!.bytesRead < 512 * 1024, `${served!.bytesRead} bytes`)
  })
}

drawn('a flood without a signature leaves places to the webhook, and waits for its refusals', async (t) => {
  const { promise: finished, resolve: finish } = Promise.withResolvers<undefined>()
  const stampKey = createSecretKey(Buffer.alloc(32, 'k'))
  // Of the API server: that of the machine may be wrong.
  const now = new Date('2038-01-19T03:14:07Z')
  const { send, seen } = await start(t, () => finished, { stampKey, now: () => now })
  const [length, body] = event(400)
  fillUnsigned(send)
  await waitFor('all in hand', () => (seen.handled === MOST_UNSIGNED ? true : undefined), 30_000)
  const began = performance.now()
  t.match(await text(send(length, body)), /^HTTP\/1.1 503 [^]*\r\nretry-after: [1-9]/i)
  t.ok(performance.now() - began > 450)
  const attributes: Readonly<Record<string, string>> = {
    id: '1',
    source: '/x',
    type: 'dev.commitlet.gitcommit.applied',
    subject: `${EVENT.namespace}/${EVENT.name}`,
    [SENDER_TIME]: now.toISOString(),
  }
  const signature = senderSignature((name) => attributes[name], stampKey)
  const head = `ce-subject: ${attributes['subject']}\r\nce-${SENDER_TIME}: ${attributes[SENDER_TIME]}\r\nce-${SENDER_SIGNATURE}: ${signature}\r\n${length}`
  const other = body.replace('"shop"', '"sh0p"')
  t.match(
    await text(send(head.replace('shop', 'sh0p'), other)),
    /^HTTP\/1.1 503/,
    'signed for another subject',
  )
  const signed = text(send(head, body))
  await waitFor('the event of the webhook', () => (seen.handled > MOST_UNSIGNED ? true : undefined), 30_000)
  t.match(await text(send(head, body)), /^HTTP\/1.1 503/, 'what is repeated has no priority')
  t.equal(seen.handled, MOST_UNSIGNED + 1)
  finish(undefined)
  t.match(await signed, /^HTTP\/1.1 202/)
})

t.test(
  'a flood leaves room to a source that has the key, which waits for its next read instead of a refusal',
  async (t) => {
    const stampKey = createSecretKey(Buffer.alloc(32, 'k'))
    const { send, seen } = await start(t, () => Promise.resolve(), { stampKey })
    const [length, body] = event(400)
    const sendAll = async (count: number, head: string): Promise<number> => {
      const requests = `${EVENT_HEAD}\r\n${head}\r\n\r\n${body}`.repeat(count - 1)
      return (await text(send(head, body, requests))).split('HTTP/1.1 202').length - 1
    }
    // Each list counts as 80 reads: nothing is left, and some three seconds of reads are owed.
    await Promise.all(Array.from({ length: (MOST_UNSIGNED - 8) / 8 }, () => sendAll(8, length)))
    for (let list = 0; list < 2; list += 1) send(`content-length: ${10 * MIB}`, '')
    await waitFor('the lists', () => (seen.requests > MOST_UNSIGNED - 8 + 1 ? true : undefined), 10_000)
    t.match(await text(send(length, body)), /^HTTP\/1.1 503/)
    const keyed = `ce-sourcekey: ${sourceKeyOf(stampKey)}\r\n`
    t.equal(await sendAll(8, keyed + length), 8)
    // Of a source 10 MiB count as 20 reads: a tenth of a second is owed.
    for (let list = 0; list < 16; list += 1) send(`${keyed}content-length: ${10 * MIB}`, '')
    await waitFor('all lists', () => (seen.requests > MOST_UNSIGNED - 8 + 26 ? true : undefined), 10_000)
    t.match(await text(send(keyed + length, body)), /^HTTP\/1.1 202/)
  },
)

t.test('a signature that was seen gives no place to another event', async (t) => {
  const { promise: finished, resolve: finish } = Promise.withResolvers<undefined>()
  const stampKey = createSecretKey(Buffer.alloc(32, 'k'))
  const { send, seen } = await start(t, () => finished, { stampKey })
  const [length, body] = event(400)
  fillUnsigned(send)
  await waitFor('all in hand', () => (seen.handled === MOST_UNSIGNED ? true : undefined), 30_000)
  const attributes: Readonly<Record<string, string>> = {
    id: '1',
    source: '/x',
    type: 'dev.commitlet.gitcommit.applied',
    subject: 'team/other',
    [SENDER_TIME]: new Date().toISOString(),
  }
  const signature = senderSignature((name) => attributes[name], stampKey)
  const head = `ce-subject: team/other\r\nce-${SENDER_TIME}: ${attributes[SENDER_TIME]}\r\nce-${SENDER_SIGNATURE}: ${signature}\r\n${length}`
  t.match(await text(send(head, body)), /^HTTP\/1.1 503/)
  t.equal(seen.handled, MOST_UNSIGNED)
  finish(undefined)
})
