import { once } from 'node:events'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import pino from 'pino'
import t from 'tap'
import type { Test } from 'tap'
import { buildApp } from '../functions/app.ts'
import { waitFor } from './harness/wait.ts'

const MIB = 1024 * 1024
/** What an event may have, and how many of those the room for bodies takes. */
const LARGEST = 3 * MIB
const FITTING = 21
const EVENT = JSON.stringify({
  apiVersion: 'commitlet.dev/v1',
  kind: 'GitCommit',
  namespace: 'team',
  name: 'shop',
  uid: 'u-1',
  generation: 1,
})
const HEAD = [
  'POST / HTTP/1.1',
  'host: x',
  'content-type: application/json',
  'ce-specversion: 1.0',
  'ce-id: 1',
  'ce-source: /x',
  'ce-type: dev.commitlet.gitcommit.applied',
].join('\r\n')

async function start(t: Test, handle: () => Promise<void> = () => Promise.resolve()) {
  const seen = { requests: 0, handled: 0 }
  const app = buildApp(
    () => {
      seen.handled += 1
      return handle()
    },
    pino({ level: 'silent' }),
  )
  app.server.on('request', () => (seen.requests += 1))
  const sockets: Socket[] = []
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    return app.close()
  })
  const port = Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port)
  function send(length: string, body: string): Socket {
    const socket = connect({ port, host: '127.0.0.1' })
    sockets.push(socket)
    socket.on('error', () => undefined).write(`${HEAD}\r\nconnection: close\r\n${length}\r\n\r\n${body}`)
    return socket
  }
  return { app, port, seen, sockets, send }
}

type Sending = Awaited<ReturnType<typeof start>>

/** Fills the room with events that do not end. */
async function fill({ send, seen }: Sending, length = `content-length: ${LARGEST}`): Promise<void> {
  for (let index = 0; index < FITTING; index += 1) send(length, '')
  await waitFor('their heads', () => (seen.requests === FITTING ? true : undefined), 10_000)
}

function event(bytes: number): readonly [length: string, body: string] {
  return [`content-length: ${bytes}`, EVENT.padEnd(bytes)]
}

for (const [title, length] of [
  ['announce 3 MiB', undefined],
  ['announce no length', 'transfer-encoding: chunked'],
] as const) {
  t.test(`events that ${title} and do not end take 64 MiB at most, until they go`, async (t) => {
    const sending = await start(t)
    await fill(sending, length)
    const refused = await text(sending.send(`content-length: ${2 * MIB}`, ''))
    t.match(
      refused,
      /^HTTP\/1.1 503 [^]*\r\nretry-after: [1-9][^]*"Too many events are being read[^"]*\."\}$/i,
    )
    t.match(await text(sending.send(...event(400))), /^HTTP\/1.1 202/, 'a small one finds room')
    sending.sockets[0]?.destroy()
    const taken = async (): Promise<true | undefined> => {
      // A refusal may come as a reset, because the body was on its way already.
      const answer = await text(sending.send(...event(2 * MIB))).catch(() => '')
      return answer.startsWith('HTTP/1.1 202') || undefined
    }
    await waitFor('room', taken, 10_000)
  })
}

t.test('events that have been handled hold no room, and probes need none', async (t) => {
  const { promise: finished, resolve: finish } = Promise.withResolvers<undefined>()
  const sending = await start(t, () => finished)
  const answers = Array.from({ length: 2 * FITTING }, () => text(sending.send(...event(2 * MIB))))
  await waitFor('42 attempts', () => (sending.seen.handled === 2 * FITTING ? true : undefined), 30_000)
  sending.seen.requests = 0
  await fill(sending)
  const probe = await fetch(`http://127.0.0.1:${sending.port}/health/readiness`)
  t.equal(probe.status, 200)
  finish(undefined)
  for (const answer of await Promise.all(answers)) t.match(answer, /^HTTP\/1.1 202/)
})

t.test('a whole event has 30 s to come', async (t) => {
  const { app } = await start(t)
  // Node goes by the longer of the two.
  t.same([app.server.headersTimeout, app.server.requestTimeout], [30_000, 30_000])
})

t.test('connections are bounded', async (t) => {
  const { app, send } = await start(t)
  t.equal(app.server.maxConnections, 2_048)
  app.server.maxConnections = 1
  await once(send('content-length: 9', ''), 'connect')
  t.equal(await text(send(...event(400))), '', 'one more is closed')
})
