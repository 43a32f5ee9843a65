import { once } from 'node:events'
import { connect, type AddressInfo, type Socket } from 'node:net'
import Fastify, { type FastifyInstance } from 'fastify'
import t from 'tap'
import { listenWithMany } from '../../functions/net/listeners.ts'

const CONNECTIONS = 64
const HOST = '127.0.0.1'
const REQUEST = 'GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n'
/** Elsewhere than on Linux a port has one socket. */
const NEEDED = process.platform === 'linux' ? {} : { skip: 'several sockets at one port' }

async function listening(app: FastifyInstance): Promise<number> {
  const listen = listenWithMany(app)
  await listen({ host: HOST, port: 0 })
  return (app.server.address() as AddressInfo).port
}

/** Opens so many connections, each with a request. */
function ask(port: number): readonly Socket[] {
  return Array.from({ length: CONNECTIONS }, () => {
    const socket = connect(port, HOST)
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

t.test('a port at which another program listens is an error', async (t) => {
  const first = Fastify()
  t.teardown(() => first.close())
  await first.listen({ host: HOST, port: 0 })
  const { port } = first.server.address() as AddressInfo
  const second = Fastify()
  t.teardown(() => second.close())
  const listen = listenWithMany(second)
  await t.rejects(listen({ host: HOST, port }), { code: 'EADDRINUSE' })
})
