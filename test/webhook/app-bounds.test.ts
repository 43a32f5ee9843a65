import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { connect as connectPlain } from 'node:net'
import type { Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { connect } from 'node:tls'
import t from 'tap'
import type { Test } from 'tap'
import { shareThread } from '../../webhook/admission/thread-turns.ts'
import type { AdmissionRequest } from '../../webhook/admission/review.ts'
import { buildApp } from '../../webhook/app.ts'
import { readKeyPair } from '../../webhook/tls.ts'
import { makeAuthority } from '../harness/certificates.ts'
import { sendEndlessBody } from '../harness/endless-body.ts'
import { waitFor } from '../harness/wait.ts'
import { call, gitCommit, QUICK, recordingLog, reviewOf, writePair } from './stage.ts'
import { drawnTests } from '../harness/drawn-test.ts'

const drawn = drawnTests(t, 3)

const MIB = 1024 * 1024
/** What a review may have, and how many of those the room for bodies takes; 1 MiB is left. */
const LARGEST = 7 * MIB
const FITTING = 5
const OTHER_ADDRESS = '127.0.0.2'
const REVIEW = JSON.stringify(reviewOf(gitCommit()))

async function start(
  t: Test,
  mutate: (review: AdmissionRequest) => Promise<object> = async () => ({}),
  { needsCertificate = false, timing = QUICK } = {},
) {
  const { certPEM: ca, ...authority } = await makeAuthority()
  const pair = await readKeyPair(await writePair(t.testdir({}), { certPEM: ca, ...authority }))
  const seen = { requests: 0, reviews: 0, read: 0 }
  const turns = shareThread(() => performance.now())
  const app = buildApp(
    {
      mutate: (review) => {
        seen.reviews += 1
        return mutate(review)
      },
      validate: async () => ({}),
      answered: () => undefined,
      isDraining: () => false,
      inTurn: (...turn) => turns(...turn).finally(() => (seen.read += 1)),
      log: recordingLog().log,
    },
    needsCertificate ? { ...pair, ca } : pair,
    timing,
  )
  app.server.on('request', () => (seen.requests += 1))
  const sockets: Socket[] = []
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    return app.close()
  })
  const port = Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port)
  function hold(socket: Socket): Socket {
    sockets.push(socket)
    return socket.on('error', () => undefined)
  }
  /** Begins a review over a connection of its own. */
  function begin(path: string, length: string, body = ''): Socket {
    const socket = hold(connect({ port, ca, host: '127.0.0.1' }))
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n${length}\r\n\r\n${body}`,
    )
    return socket
  }
  return { app, port, ca, seen, sockets, hold, begin }
}

t.test('reviews that do not end take 36 MiB at most: the oldest gives way', async (t) => {
  const { app, port, ca, begin } = await start(t)
  let read = 0
  app.server.on('request', (request: IncomingMessage) => {
    request.on('data', (chunk: Buffer) => (read += chunk.length))
  })
  const body = ' '.repeat(LARGEST - 1)
  const announced = [`content-length: ${LARGEST}`, body] as const
  const chunked = ['transfer-encoding: chunked', `${body.length.toString(16)}\r\n${body}\r\n`] as const
  const senders = Array.from({ length: FITTING }, (_, index) => {
    const [length, sent] = index % 2 === 0 ? announced : chunked
    return begin(index % 3 === 2 ? '/validate' : '/mutate', length, sent)
  })
  const [oldest, ...others] = senders.map((socket) => text(socket).catch(String))
  await waitFor('their bodies', () => (read === FITTING * body.length ? true : undefined), 30_000)
  t.equal((await call({ port, ca }, '/mutate', REVIEW)).status, 200, 'a small one finds room')
  const large = JSON.stringify(reviewOf(gitCommit({ annotations: { a: 'x'.repeat(2 * MIB) } })))
  t.equal((await call({ port, ca }, '/mutate', large)).status, 200, 'a large one gets it')
  const refused = await oldest
  t.match(refused, /^HTTP\/1.1 503 [^]*\r\nretry-after: 1\r\n[^]*"reason":"ServiceUnavailable"/i)
  t.match(refused, /"message":"Too many reviews are being decided at the moment; try again\."/)
  t.equal(await Promise.race([...others, pause(0, 'open')]), 'open', 'no more than needed')
})

t.test(
  'a connection that was opened ahead is answered when it is used late, and one request is not waited for',
  async (t) => {
    const { app, port, ca, hold } = await start(t)
    app.server.headersTimeout = 50
    app.server.requestTimeout = 50
    const open = (sent: string): Socket => {
      const socket = hold(connect({ port, ca, host: '127.0.0.1' }))
      socket.write(sent)
      return socket
    }
    const head = `POST /mutate HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\n`
    let late = 0
    app.server.on('clientError', () => (late += 1))
    const [ahead, slow] = [open(''), open(head)]
    await waitFor('both times are over', () => late === 2 || undefined, 20_000)
    app.server.headersTimeout = 10_000
    app.server.requestTimeout = 10_000
    ahead.write(`${head}content-length: ${REVIEW.length}\r\n\r\n${REVIEW}`)
    t.match(await text(ahead), /^HTTP\/1.1 200 /)
    t.match(await text(slow), /^HTTP\/1.1 408 /)
  },
)

t.test('a body at another path is not read, takes no room, and its refusal waits', async (t) => {
  const { app, begin } = await start(t)
  let read = 0
  app.server.on('request', (request: IncomingMessage) => {
    request.on('data', (chunk: Buffer) => (read += chunk.length))
  })
  const began = performance.now()
  const body = ' '.repeat(LARGEST)
  t.match(await text(begin('/other', `content-length: ${LARGEST}`, body)), /^HTTP\/1.1 404 /)
  t.ok(performance.now() - began > 450)
  t.ok(read < 512 * 1024, `${read} bytes`)
})

t.test('of addresses that cannot be read, few are answered, and that waits', async (t) => {
  const { port, ca, seen, hold } = await start(t)
  const socket = hold(connect({ port, ca, host: '127.0.0.1' }))
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
    'after the answer to a review without a client certificate its body is not read',
    'POST /mutate HTTP/1.1',
    403,
  ],
] as const) {
  t.test(title, async (t) => {
    const { app, port, ca, hold } = await start(t, undefined, { needsCertificate: true })
    let served: Socket | undefined
    app.server.on('connection', (socket: Socket) => (served = socket))
    const answer = await sendEndlessBody(hold(connect({ port, ca, host: '127.0.0.1' })), head)
    t.ok(answer.startsWith(`HTTP/1.1 ${status} `), answer)
    t.match(answer, /\r\nconnection: close\r\n/i)
    t.ok(served!.bytesRead < 512 * 1024, `${served!.bytesRead} bytes`)
  })
}

/** A review with so many MiB, as a rule nearly the most. */
function largeReview(namespace: string, mib = 6.5): string {
  const object = gitCommit({ namespace, annotations: { a: 'x'.repeat(mib * MIB) } })
  return JSON.stringify(reviewOf(object, { namespace }))
}

drawn(
  'ten namespaces of an address leave others there room for bodies, until they are decided',
  async (t) => {
    const { promise: decided, resolve: decide } = Promise.withResolvers<object>()
    const { port, ca, seen } = await start(t, () => decided)
    const held: ReturnType<typeof call>[] = []
    async function hold(...posts: readonly (readonly [string, number])[]): Promise<void> {
      const count = seen.reviews + posts.length
      for (const post of posts) held.push(call({ port, ca }, '/mutate', largeReview(...post)))
      await waitFor('all reviews', () => (seen.reviews === count ? true : undefined), 20_000)
    }
    await hold(['hostile-0', 6.5])
    for (let index = 1; index < 10; index += 1) await hold([`hostile-${index}`, 0.7])
    const refused = await call({ port, ca }, '/validate', largeReview('hostile-0', 0.7))
    t.equal(refused.status, 503, 'it gets no more')
    const others = ['shop', 'other', 'another'].flatMap((name) => [name, name, name])
    await hold(...others.map((name) => [name, 0.1] as const))
    t.equal((await call({ port, ca }, '/validate', REVIEW)).status, 200, 'a small one finds room')
    const other = { port, ca, localAddress: OTHER_ADDRESS }
    t.equal(
      (await call(other, '/validate', largeReview('shop', 3))).status,
      200,
      'and one from another address',
    )
    decide({})
    for (const { status } of await Promise.all(held)) t.equal(status, 200)
    t.equal((await call({ port, ca }, '/validate', largeReview('shop'))).status, 200)
  },
)

drawn('a namespace alone gets a quarter of the room for bodies, even if the senders leave', async (t) => {
  const { promise: decided, resolve: decide } = Promise.withResolvers<object>()
  const { app, port, ca, seen, begin } = await start(t, () => decided)
  const large = largeReview('shop', 2)
  const senders = Array.from({ length: 4 }, () => begin('/mutate', `content-length: ${large.length}`, large))
  await waitFor('all reviews', () => (seen.reviews === senders.length ? true : undefined), 20_000)
  for (const sender of senders) sender.destroy()
  const open = async () => new Promise<number>((resolve) => app.server.getConnections((_, n) => resolve(n)))
  await waitFor('no sender', async () => ((await open()) === 0 ? true : undefined), 10_000)
  t.equal((await call({ port, ca }, '/validate', large)).status, 503)
  t.equal(
    (await call({ port, ca }, '/validate', largeReview('other', 0.7))).status,
    200,
    'another finds room',
  )
  decide({})
  const again = async () => (await call({ port, ca }, '/validate', large)).status === 200 || undefined
  await waitFor('room', again, 10_000)
})

t.test('a namespace that holds much room gives way to another one, and is asked to come again', async (t) => {
  const { promise: decided, resolve: decide } = Promise.withResolvers<object>()
  const decideOthers = ({ givenUp, namespace }: AdmissionRequest): Promise<object> =>
    namespace === 'hostile' ? Promise.race([decided, once(givenUp!, 'abort')]) : Promise.resolve({})
  const { port, ca, seen } = await start(t, decideOthers)
  const large = largeReview('hostile', 2.9)
  const held = Array.from({ length: 3 }, () => call({ port, ca }, '/mutate', large))
  await waitFor('their reviews', () => (seen.reviews === 3 ? true : undefined), 20_000)
  t.equal((await call({ port, ca }, '/mutate', largeReview('shop', 2))).status, 200)
  decide({})
  const answers = (await Promise.all(held)).toSorted((one, other) => one.status - other.status)
  const given = { status: 503, body: { message: /^Too many reviews are being decided/ } }
  t.match(answers, [{ status: 200 }, { status: 200 }, given], 'no more of them than needed')
})

t.test(
  'a namespace alone gets a quarter of the places for reviews, and another one finds room',
  async (t) => {
    const { promise: decided, resolve: decide } = Promise.withResolvers<object>()
    const { port, ca, seen } = await start(t, () => decided)
    const answers = Array.from({ length: 150 }, () => call({ port, ca }, '/mutate', REVIEW))
    await waitFor('150 reviews', () => (seen.reviews === 150 ? true : undefined), 30_000)
    t.equal((await call({ port, ca }, '/mutate', REVIEW)).status, 503)
    const other = JSON.stringify(reviewOf(gitCommit({ namespace: 'other' }), { namespace: 'other' }))
    t.equal((await call({ port, ca }, '/validate', other)).status, 200)
    decide({})
    for (const { status } of await Promise.all(answers)) t.equal(status, 200)
  },
)

drawn('a review in many small pieces is refused, and one in fewer is read', async (t) => {
  const { begin } = await start(t)
  const chunked = 'connection: close\r\ntransfer-encoding: chunked'
  const inPieces = (many: number): string =>
    `${REVIEW.length.toString(16)}\r\n${REVIEW}\r\n${'1\r\n \r\n'.repeat(many)}0\r\n\r\n`
  t.match(await text(begin('/mutate', chunked, inPieces(1_000))), /^HTTP\/1.1 200/)
  const refused = await text(begin('/mutate', chunked, inPieces(1_100)))
  t.match(refused, /^HTTP\/1.1 (400|413|422) [^]*small pieces/)
})

drawn(
  'a namespace alone gets a quarter of the parsed parts of reviews, and another one finds room',
  async (t) => {
    const { promise: decided, resolve: decide } = Promise.withResolvers<object>()
    const { port, ca, seen } = await start(t, () => decided)
    const having = (parts: number, namespace = 'shop'): string => {
      const spec = { unknown: Array.from({ length: parts / 2 }, () => ({})) }
      return JSON.stringify(reviewOf(gitCommit({ namespace }, spec), { namespace }))
    }
    const { status, body } = await call({ port, ca }, '/mutate', having(50_000))
    t.equal(status, 413)
    t.match(body.message, /50,000 brackets and commas/)
    const answers = Array.from({ length: 5 }, () => call({ port, ca }, '/mutate', having(45_000)))
    await waitFor('five reviews', () => (seen.reviews === 5 ? true : undefined), 20_000)
    t.match(await call({ port, ca }, '/validate', having(45_000)), { status: 503, body: { code: 503 } })
    const [large, usual] = [having(20_000, 'other'), having(300, 'other')]
    for (const body of [large, usual])
      t.equal(
        (await call({ port, ca }, '/validate', body)).status,
        200,
        'one of another namespace finds room',
      )
    decide({})
    for (const answer of await Promise.all(answers)) t.equal(answer.status, 200)
    t.equal((await call({ port, ca }, '/validate', having(45_000))).status, 200)
  },
)

t.test('ten namespaces of an address leave others there parts of reviews', async (t) => {
  const { promise: decided, resolve: decide } = Promise.withResolvers<object>()
  const { port, ca, seen } = await start(t, () => decided)
  const having = (namespace: string, parts: number): string => {
    const spec = { unknown: Array.from({ length: parts / 2 }, () => ({})) }
    return JSON.stringify(reviewOf(gitCommit({ namespace }, spec), { namespace }))
  }
  const hold = (namespace: string, parts: number) => call({ port, ca }, '/mutate', having(namespace, parts))
  const held = Array.from({ length: 5 }, () => hold('hostile-0', 45_000))
  for (let index = 1; index < 10; index += 1) held.push(hold(`hostile-${index}`, 20_000))
  await waitFor('their reviews', () => (seen.reviews === 14 ? true : undefined), 20_000)
  t.equal((await call({ port, ca }, '/validate', having('hostile-0', 20_000))).status, 503)
  for (const name of ['shop', 'other', 'another'])
    for (let count = 0; count < 3; count += 1) held.push(hold(name, 1_000))
  await waitFor('those of the others', () => (seen.reviews === 23 ? true : undefined), 20_000)
  const other = { port, ca, localAddress: OTHER_ADDRESS }
  t.equal((await call(other, '/validate', having('hostile-1', 45_000))).status, 200)
  decide({})
  for (const { status } of await Promise.all(held)) t.equal(status, 200)
})

drawn('an answer that is not taken holds no room for reviews, and all of them 16 MiB at most', async (t) => {
  const patch = [{ op: 'add', path: '/a', value: 'x'.repeat(5.5 * MIB) }]
  // Nothing is closed because its time is over.
  const timing = { ...QUICK, wait: (_milliseconds: number, signal: AbortSignal) => once(signal, 'abort') }
  const { app, port, ca, seen, hold } = await start(t, async () => ({ patch }), { timing })
  const large = JSON.stringify(reviewOf(gitCommit({ annotations: { a: 'x'.repeat(6.5 * MIB) } })))
  const head = `POST /mutate HTTP/1.1\r\nhost: x\r\ncontent-length: ${large.length}\r\n\r\n`
  for (let count = 1; count <= FITTING; count += 1) {
    // Nobody reads what it gets.
    const socket = hold(connect({ port, ca, host: '127.0.0.1' }))
    socket.write(head + large)
    await waitFor('its review', () => (seen.reviews === count ? true : undefined), 20_000)
  }
  t.equal((await call({ port, ca }, '/validate', large)).status, 200)
  const open = async () => new Promise<number>((resolve) => app.server.getConnections((_, n) => resolve(n)))
  await waitFor('two answers', async () => ((await open()) === 2 ? true : undefined), 10_000)
})

drawn('a review that is not complete within 10 s is given up, and so is a silent connection', async (t) => {
  const { begin, hold, port } = await start(t)
  const began = performance.now()
  const silent = hold(connectPlain({ port, host: '127.0.0.1' }))
  const [answer] = await Promise.all([text(begin('/mutate', 'content-length: 100')), text(silent)])
  t.match(answer, /^HTTP\/1.1 408 /)
  const seconds = (performance.now() - began) / 1000
  t.ok(seconds > 9 && seconds < 14, `${seconds} s`)
})

drawn(
  '768 connections are held, and one more takes the place of the one that was silent for longest',
  async (t) => {
    const { app, port, ca, hold } = await start(t)
    const open = async () => new Promise<number>((resolve) => app.server.getConnections((_, n) => resolve(n)))
    const sockets = Array.from({ length: 768 }, () => hold(connectPlain({ port, host: '127.0.0.1' })))
    await waitFor('768 connections', async () => ((await open()) === 768 ? true : undefined), 10_000)
    t.equal((await call({ port, ca }, '/health/liveness')).status, 200)
    t.equal(await text(sockets[0] ?? hold(connectPlain({ port }))), '', 'the first one is closed')
    t.ok((await open()) <= 768)
  },
)
