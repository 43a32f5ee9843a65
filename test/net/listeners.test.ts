import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { connect, type AddressInfo, type ListenOptions, type Server, type Socket } from 'node:net'
import Fastify, { type FastifyInstance } from 'fastify'
import pino from 'pino'
import t from 'tap'
import { buildApp } from '../../functions/app.ts'
import { listenWithMany, type ListenPlace } from '../../functions/net/listeners.ts'
import { waitFor } from '../harness/wait.ts'

const CONNECTIONS = 64
const HOST = '127.0.0.1'
const REQUEST = 'GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n'
/** Tells of each server of this process that is about to listen (diagnostics_channel of Node). */
const LISTEN = 'tracing:net.server.listen:asyncStart'
const PROBE = 'GET /health/liveness HTTP/1.1\r\nhost: localhost\r\n\r\n'
/** Elsewhere than on Linux a port has one socket. */
const NEEDED = process.platform === 'linux' ? {} : { skip: 'several sockets at one port' }

async function listening(app: FastifyInstance): Promise<number> {
  const listen = listenWithMany(app)
  await listen({ host: HOST, port: 0 })
  return (app.server.address() as AddressInfo).port
}

function open(port: number, count: number): readonly Socket[] {
  return Array.from({ length: count }, () => connect(port, HOST).on('error', () => undefined))
}

/** Opens so many connections, each with a request. */
function ask(port: number): readonly Socket[] {
  return open(port, CONNECTIONS).map((socket) => {
    socket.write(REQUEST)
    return socket
  })
}

async function answerOn(socket: Socket): Promise<string> {
  let answer = ''
  socket.setEncoding('utf8').on('data', (text: string) => (answer += text))
  await once(socket, 'close')
  return answer
}

function listenWithOne(app: FastifyInstance): (place: ListenPlace) => Promise<string> {
  return (place) => app.listen(place)
}

function isRefused(port: number): Promise<true | undefined> {
  return new Promise((resolve) => {
    const socket = connect(port, HOST)
    socket.once('error', () => resolve(true))
    socket.once('connect', () => {
      socket.destroy()
      resolve(undefined)
    })
  })
}

t.test('many connections are accepted in few turns of a loop that is busy', NEEDED, async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  const port = await listening(app)
  let accepted = 0
  app.server.on('connection', () => (accepted += 1))
  const sockets = ask(port)
  t.teardown(() => sockets.forEach((socket) => socket.destroy()))
  let turns = 0
  const all = Promise.withResolvers<undefined>()
  function work(): void {
    turns += 1
    const end = performance.now() + 5
    while (performance.now() < end);
    if (accepted === CONNECTIONS) all.resolve(undefined)
    else setImmediate(work)
  }
  work()
  await all.promise
  t.ok(turns <= CONNECTIONS / 2, `${CONNECTIONS} are accepted in ${turns} turns`)
})

t.test('closing waits for the answers of all connections, and leaves no socket at the port', async (t) => {
  const app = Fastify()
  const asked = Promise.withResolvers<undefined>()
  const answered = Promise.withResolvers<undefined>()
  let requests = 0
  app.get('/', async () => {
    requests += 1
    if (requests === CONNECTIONS) asked.resolve(undefined)
    await answered.promise
    return 'done'
  })
  const port = await listening(app)
  const sockets = ask(port)
  const answers = sockets.map(answerOn)
  await asked.promise
  let isClosed = false
  const closed = app.close().then(() => (isClosed = true))
  await waitFor('end of the port', () => isRefused(port), 5_000)
  t.equal(isClosed, false)
  answered.resolve(undefined)
  const all = await Promise.all(answers)
  t.same(
    all.filter((answer) => !/^HTTP\/1\.1 200 .*done$/s.test(answer)),
    [],
  )
  await closed
  t.equal(await isRefused(port), true)
})

t.test(
  'of all sockets, connections that were used are ended first, and then those that were not',
  async (t) => {
    const app = buildApp(() => Promise.resolve(), pino({ level: 'silent' }))
    const port = await listening(app)
    const [silent, used] = [open(port, 4), open(port, CONNECTIONS)]
    for (const socket of silent) socket.resume()
    t.teardown(() => [...silent, ...used].forEach((socket) => socket.destroy()))
    for (const socket of used) {
      socket.write(PROBE)
      await once(socket, 'data')
    }
    const limit = { signal: AbortSignal.timeout(20_000) }
    const closed = app.close()
    await Promise.all(used.map((socket) => once(socket, 'close', limit)))
    t.same(
      silent.filter((socket) => socket.closed).map(() => 'closed'),
      [],
    )
    await Promise.all([closed, ...silent.map((socket) => once(socket, 'close', limit))])
  },
)

t.test('a port at which another program listens is an error, also where it shares its port', async (t) => {
  for (const listenAs of [listenWithMany, listenWithOne]) {
    const first = Fastify()
    t.teardown(() => first.close())
    await listenAs(first)({ host: HOST, port: 0 })
    const { port } = first.server.address() as AddressInfo
    const second = Fastify()
    t.teardown(() => second.close())
    await t.rejects(listenWithMany(second)({ host: HOST, port }), { code: 'EADDRINUSE', port })
  }
})

t.test('where one of the sockets of a port cannot be opened, none stays open', NEEDED, async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  const servers: Server[] = []
  function fail(message: unknown): void {
    const { server } = message as { readonly server: Server }
    servers.push(server)
    // The first one looks whether the port is free.
    const error = Object.assign(new Error('listen EMFILE'), { code: 'EMFILE' })
    if (servers.length === 9) process.nextTick(() => server.emit('error', error))
  }
  subscribe(LISTEN, fail)
  t.teardown(() => unsubscribe(LISTEN, fail))
  await t.rejects(listening(app), { code: 'EMFILE' })
  t.equal(servers.length, 9)
  t.same(
    servers.map((server) => server.listening),
    servers.map(() => false),
  )
})

t.test('where the sockets of a port cannot divide its connections, there is one', async (t) => {
  for (const code of ['ENOTSUP', 'ENOPROTOOPT']) {
    const app = Fastify()
    t.teardown(() => app.close())
    app.get('/', () => 'answered')
    const { server } = app
    const listen = server.listen.bind(server)
    Object.assign(server, {
      listen(place: ListenOptions) {
        if (place.reusePort !== true) return listen(place)
        process.nextTick(() => server.emit('error', Object.assign(new Error('listen'), { code })))
        return server
      },
    })
    const answers = await Promise.all(ask(await listening(app)).map(answerOn))
    t.equal(answers.filter((answer) => answer.endsWith('answered')).length, CONNECTIONS)
  }
})
