import { setImmediate as nextTurn } from 'node:timers/promises'
import { TLSSocket } from 'node:tls'
import t from 'tap'
import { isBusy, openMemory } from '../../functions/git/direct/memory.ts'
import { followTrust } from '../../functions/net/trust.ts'
import type { ConnectionTarget } from '../../functions/http/connection.ts'
import { keepConnection } from '../../functions/http/kept-connection.ts'
import { rememberTickets } from '../../functions/http/tls-tickets.ts'
import { waitFor } from '../harness/wait.ts'
import { CA_FILE, serve, serveRaw } from './stage.ts'

const trust = await followTrust(CA_FILE).context()
const BOUNDS = { most: 1_000, take: () => () => undefined }
const GET = { method: 'GET', path: '/{a}/../b?c=d', headers: { 'x-a': 'b' }, timeoutMs: 10_000 } as const
const HOST = 'git.example.com'

function target(port: number, more: Partial<ConnectionTarget> = {}): ConnectionTarget {
  const route = { addresses: ['127.0.0.1'], proxy: undefined, insecure: false }
  const signal = new AbortController().signal
  return {
    destination: { scheme: 'https', host: HOST, port },
    route,
    trust,
    shownHost: `https://${HOST}/a.git`,
    signal,
    ...more,
  }
}

t.test('requests share one connection, and leave and come back as they are', async (t) => {
  const seen: string[] = []
  const place = await serve(t, (request, response) => {
    request.setEncoding('latin1').on('data', (body: string) => seen.push(body))
    seen.push(`${request.method} ${request.url} ${String(request.headers['x-a'])}`)
    request.on('end', () => response.writeHead(302, { location: 'https://other.example.com/' }).end('moved'))
  })
  const connection = keepConnection(target(place.port))
  const first = await connection.send(GET, BOUNDS)
  const body = [Buffer.from('\0\xff', 'latin1'), Buffer.from('b')]
  await connection.send({ method: 'POST', path: '/p', headers: {}, body, timeoutMs: 10_000 }, BOUNDS)
  await connection.close()
  t.equal(first.status, 302)
  t.equal(first.header('location'), 'https://other.example.com/')
  t.equal(first.header('none'), undefined)
  t.equal(first.body?.bytes.toString(), 'moved')
  t.same(seen, ['GET /{a}/../b?c=d b', 'POST /p undefined', '\0\xffb'])
  t.equal(place.connections.length, 1)
  await waitFor('end of the connection', () => place.open.size === 0 || undefined, 5_000)
})

t.test('of a push that the server does not read, no copy is kept', async (t) => {
  const { promise: asked, resolve } = Promise.withResolvers<undefined>()
  const { port } = await serve(t, () => resolve(undefined))
  const connection = keepConnection(target(port))
  const part = Buffer.alloc(2 ** 20, 'a')
  const before = process.memoryUsage().arrayBuffers
  const push = { method: 'POST', path: '/', headers: {}, timeoutMs: 60_000, mayBegin: () => true } as const
  const sending = connection.send({ ...push, body: Array.from({ length: 100 }, () => part) }, BOUNDS)
  const ended = sending.catch((error: unknown) => error)
  await asked
  await nextTurn()
  const held = process.memoryUsage().arrayBuffers - before
  t.ok(held < 30 * 2 ** 20, `${held} bytes`)
  await connection.close()
  await ended
})

t.test('a push comes whole, whatever the sizes of its parts', async (t) => {
  const seen: Buffer[] = []
  const { port } = await serve(t, (request, response) => {
    request.on('data', (piece: Buffer) => seen.push(piece)).on('end', () => response.end())
  })
  const connection = keepConnection(target(port))
  const sizes = [1, 0, 10, 65_535, 65_536, 65_537, 3, 200_000, 0, 7]
  const body = sizes.map((size, index) => Buffer.alloc(size, `${index}`))
  const push = { method: 'POST', path: '/', headers: {}, timeoutMs: 60_000, mayBegin: () => true } as const
  t.match(await connection.send({ ...push, body }, BOUNDS), { status: 200 })
  t.ok(Buffer.concat(seen).equals(Buffer.concat(body)))
  await connection.close()
})

t.test('a lack of memory is no error of the network', async (t) => {
  const { port } = await serve(t, (_request, response) => response.end('ok'))
  const { take } = openMemory().shareOf('shop')
  const connection = keepConnection(target(port))
  t.teardown(() => connection.close())
  const refusal: unknown = await connection
    .send(GET, { most: 1_000, take: (bytes) => take(bytes + 2 ** 30) })
    .catch((error: unknown) => error)
  t.ok(isBusy(refusal))
})

t.test('a TLS session is resumed by the next connection, but not for other authorities', async (t) => {
  const reused: boolean[] = []
  const { port } = await serve(t, ({ socket }, response) => {
    if (socket instanceof TLSSocket) reused.push(socket.isSessionReused())
    response.end('ok')
  })
  const tickets = rememberTickets()
  async function call(more: Partial<ConnectionTarget>): Promise<void> {
    const connection = keepConnection(target(port, { tickets, ...more }))
    await connection.send(GET, BOUNDS)
    await connection.close()
  }
  await call({})
  await call({})
  await call({ trust: await followTrust(CA_FILE).context() })
  await call({ route: { addresses: ['127.0.0.1'], proxy: undefined, insecure: true } })
  t.same(reused, [false, true, false, false])
})

t.test('an answer above its limit has no body, and the next request is sent', async (t) => {
  const { port } = await serve(t, (_request, response) => response.end('x'.repeat(2_000)))
  const connection = keepConnection(target(port))
  const large = await connection.send(GET, BOUNDS)
  t.match(large, { status: 200, body: undefined })
  const { body } = await connection.send(GET, { ...BOUNDS, most: 2_000 })
  t.equal(body?.bytes.length, 2_000)
  await connection.close()
})

t.test('what goes wrong is reported with its reason and the address', async (t) => {
  const cut = await serve(t, (_request, response) => {
    response.writeHead(200, { 'content-length': '10' }).write('x', () => response.destroy())
  })
  const silent = await serve(t, () => undefined)
  const odd = await serveRaw(t, (socket) => socket.end('what?\r\n\r\n'))
  const stop = AbortSignal.timeout(300)
  const cases = [
    { way: target(cut.port), reason: 'NetworkError', says: /closed the connection in the middle/ },
    { way: target(silent.port, { signal: stop }), reason: 'Timeout', says: /did not answer in time/ },
    { way: target(silent.port), timeoutMs: 300, reason: 'Timeout', says: /did not answer in time/ },
    { way: target(odd.port), reason: 'NetworkError', says: /cannot be reached/ },
  ]
  for (const { way, reason, says, timeoutMs = 10_000 } of cases) {
    const connection = keepConnection(way)
    const message = new RegExp(`^https://git\\.example\\.com/a\\.git .*${says.source}`)
    await t.rejects(connection.send({ ...GET, timeoutMs }, BOUNDS), { reason, message })
    await connection.close()
  }
})

t.test(
  'a request that may not begin is asked for once the connection is open, and nothing of it is sent',
  async (t) => {
    const seen: string[] = []
    const place = await serve(t, (request, response) => {
      request.setEncoding('latin1').on('data', (body: string) => seen.push(body))
      request.on('end', () => response.end('ok'))
    })
    const connection = keepConnection(target(place.port))
    const asked: number[] = []
    const post = (mayBegin: boolean) =>
      connection.send(
        {
          ...{ method: 'POST', path: '/p', headers: {}, timeoutMs: 10_000 },
          body: [Buffer.from('a'), Buffer.from('bc')],
          mayBegin() {
            asked.push(place.connections.length)
            return mayBegin
          },
        },
        BOUNDS,
      )
    await t.rejects(post(false))
    t.same(seen, [])
    const answer = await post(true)
    t.equal(answer.status, 200)
    t.same(seen.join(''), 'abc')
    t.same(asked[0], 1)
    await connection.close()
  },
)
