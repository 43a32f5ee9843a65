import { once } from 'node:events'
import { createServer, get, type RequestOptions } from 'node:https'
import { connect as connectPlain, type AddressInfo, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { connect, type TLSSocket } from 'node:tls'
import t from 'tap'
import { collect } from '../harness/collect.ts'
import type { Test } from 'tap'
import { openReadingTurns } from '../../functions/domain/incoming/reading-turns.ts'
import { TIMING } from '../../functions/net/timing.ts'
import { boundTLS } from '../../webhook/bounded-tls.ts'
import { shareHandshakes } from '../../webhook/handshake-shares.ts'
import { servedWith } from '../../webhook/tls.ts'
import { makeAuthority } from '../harness/certificates.ts'
import { waitFor } from '../harness/wait.ts'

const authority = await makeAuthority()
const { certPEM: cert, keyPEM: key } = await authority.issue({ names: ['localhost'] })
const client = await authority.issue({ names: ['apiserver'] })
/** The connections of all requests, and limits of time that each has begun, such as those of calls. */
const answered: WeakRef<Socket>[] = []
const limits: AbortSignal[] = []
const server = createServer(
  { ...servedWith({ cert, key, ca: authority.certPEM }), requestCert: true, rejectUnauthorized: false },
  ({ socket }, response) => {
    const { remoteAddress, remotePort } = socket
    answered.push(new WeakRef(socket))
    limits.push(AbortSignal.timeout(60_000))
    response.end(
      JSON.stringify({
        remoteAddress,
        remotePort,
        ...('authorized' in socket ? { isCertified: socket.authorized } : {}),
      }),
    )
  },
)
const turns = openReadingTurns(TIMING)
/** What waits for its turn, while turns are held back. */
const held: (() => void)[] = []
let isHeldBack = false
/** Milliseconds that each piece of a handshake takes. */
let slow = 0
let taken = 0
/** What waits until its address may have more of the thread. */
const waiting: (() => void)[] = []
let now = 0
const wait = (): Promise<void> => new Promise((resolve) => waiting.push(resolve))
boundTLS(server, {
  inTurn(address, work) {
    if (!isHeldBack) return turns(address, work)
    held.push(() => void turns(address, work))
    return false
  },
  shares: shareHandshakes({ elapsed: () => now, wait }, () => (taken += slow)),
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
t.teardown(() => server.close())
const { port } = server.address() as AddressInfo
const trusted = { port, host: 'localhost', ca: authority.certPEM, agent: false } as const

async function answerTo(options: RequestOptions): Promise<unknown> {
  const request = get({ ...trusted, ...options })
  const [response] = await once(request, 'response')
  return { ...JSON.parse(await text(response)), localPort: request.socket?.localPort }
}

/** The client's certificate, and so many above it. */
function chainOf(length: number): string {
  return [client.certPEM, ...Array.from({ length }, () => authority.certPEM)]
    .map((pem) => pem.trim())
    .join('\n')
}

// A timer keeps what its asynchronous context holds until it fires.
t.test('a connection that is closed is not kept by what has begun for its requests', async (t) => {
  const before = answered.length
  for (let requests = 0; requests < 10; requests += 1) await answerTo({})
  const collected = (): true | undefined => {
    collect()
    // What has come last may be kept by the server or its parser.
    return answered.slice(before, before + 8).every((socket) => socket.deref() === undefined) || undefined
  }
  t.ok(await waitFor('collection of the connections', collected, 5_000))
  t.equal(limits.filter(({ aborted }) => aborted).length, 0)
})

t.test('a client is heard with a certificate, with some above it, and without one', async (t) => {
  for (const [options, isCertified] of [
    [{}, false],
    [{ cert: client.certPEM, key: client.keyPEM }, true],
    [{ cert: chainOf(4), key: client.keyPEM }, true],
  ] as const)
    t.match(await answerTo(options), { remoteAddress: '127.0.0.1', remotePort: Number, isCertified })
})

t.test('a handshake of more than 12 KiB is ended before TLS reads it', async (t) => {
  await t.rejects(answerTo({ cert: chainOf(60), key: client.keyPEM }), { code: 'ECONNRESET' })
  t.match(await answerTo({}), { isCertified: false }, 'others go on')
})

t.test('handshakes wait for the turn of their address', async (t) => {
  isHeldBack = true
  let isSecured = false
  const answered = answerTo({}).finally(() => (isSecured = true))
  await waitFor('its beginning', () => held.length > 0 || undefined, 10_000)
  for (let turn = 0; turn < 100; turn += 1) await nextTurn()
  t.notOk(isSecured)
  isHeldBack = false
  for (const work of held.splice(0)) work()
  t.match(await answered, { isCertified: false })
})

t.test(
  'an address whose handshakes are slow has a share of the thread, and others have theirs',
  async (t) => {
    slow = 150
    t.match(await answerTo({}), { isCertified: false }, 'its first two pieces are read')
    let isSecured = false
    const answered = answerTo({}).finally(() => (isSecured = true))
    await waitFor('that it waits', () => waiting.length > 0 || undefined, 10_000)
    t.match(await answerTo({ localAddress: '127.0.0.2' }), { isCertified: false }, 'another one goes on')
    t.notOk(isSecured)
    t.equal(waiting.length, 1)
    // It has taken 2 x 140 ms beyond what is usual, of 200, and gets 20 back in a second.
    now += 4_000
    waiting.splice(0).forEach((goOn) => goOn())
    await waitFor('that it waits again', () => waiting.length > 0 || undefined, 10_000)
    slow = 0
    now += 100_000
    waiting.splice(0).forEach((goOn) => goOn())
    t.match(await answered, { isCertified: false })
  },
)

t.test('no connection negotiates again, which would ask for certificates without a bound', async (t) => {
  const socket = connect({ ...trusted, servername: 'localhost', maxVersion: 'TLSv1.2' })
  t.teardown(() => socket.destroy())
  await once(socket, 'secureConnect')
  const { promise, resolve } = Promise.withResolvers<Error | null>()
  socket.on('error', resolve).renegotiate({ rejectUnauthorized: true }, resolve)
  t.match(await promise, { message: /no renegotiation/ })
})

/** A client that sends records of one byte each, all together, once `begin` has got its end at the server. */
async function sendRecords(t: Test, records: number, begin: (secured: TLSSocket) => void): Promise<void> {
  const held: Buffer[] = []
  let isHolding = false
  const raw = connectPlain({ port, host: '127.0.0.1' })
  const below = new Duplex({
    read: () => undefined,
    write(bytes: Buffer, _encoding, done) {
      if (isHolding) held.push(bytes)
      else raw.write(bytes)
      done()
    },
  })
  raw.on('data', (bytes: Buffer) => below.push(bytes))
  t.teardown(() => raw.destroy())
  const arrives = once(server, 'secureConnection') as Promise<[TLSSocket]>
  const sender = connect({ socket: below, servername: 'localhost', ca: authority.certPEM })
  const [[secured]] = await Promise.all([arrives, once(sender, 'secureConnect')])
  begin(secured)
  isHolding = true
  for (let sent = 0; sent < records; sent += 1)
    await new Promise((resolve) => sender.write(REQUEST.slice(sent, sent + 1) || 'x', resolve))
  raw.write(Buffer.concat(held))
}

const REQUEST = 'GET / HTTP/1.1\r\nhost: x\r\nx: '
const RECORDS = 1_000

t.test('of records of one byte, a few dozen are read in a turn of the event loop', async (t) => {
  const ofTurn: number[] = [0]
  const sum = (): number => ofTurn.reduce((all, pieces) => all + pieces, 0)
  await sendRecords(t, RECORDS, (secured) => {
    secured.on('data', () => (ofTurn[ofTurn.length - 1]! += 1))
    const count = (): void => {
      ofTurn.push(0)
      if (sum() < RECORDS) setImmediate(count)
    }
    count()
  })
  await waitFor('all records', () => (sum() === RECORDS ? true : undefined), 10_000)
  const most = Math.max(...ofTurn)
  t.ok(most <= 64, `${most} in a turn`)
})

t.test('for a connection that is paused none is read, and all of them once it goes on', async (t) => {
  const [accepted, paused] = [Promise.withResolvers<Socket>(), Promise.withResolvers<TLSSocket>()]
  let read = 0
  server.once('connection', accepted.resolve)
  await sendRecords(t, RECORDS, (secured) => {
    secured.on('data', ({ length }: Buffer) => (read += length)).pause()
    paused.resolve(secured)
  })
  const [socket, secured] = await Promise.all([accepted.promise, paused.promise])
  await waitFor('the records', () => (socket.bytesRead > RECORDS * 20 ? true : undefined), 10_000)
  for (let turns = 0; turns < 100; turns += 1) await nextTurn()
  t.equal(secured.readableLength, 0)
  secured.resume()
  await waitFor('all records', () => (read === RECORDS ? true : undefined), 10_000)
})
