import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import t from 'tap'
import type { Test } from 'tap'
import { boundHead } from '../../functions/net/head-bound.ts'

const INTERIM = 'HTTP/1.1 102 Processing\r\n\r\n'
const KIB = 1024

/** Sends one request over each of the connections that it is given, and returns how it ends. */
async function ask(port: number, agent: Agent | false = false): Promise<string> {
  const asking = request({ port, host: '127.0.0.1', agent })
  boundHead(asking)
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  asking.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
  asking.on('response', (response) => {
    let bytes = 0
    response.on('data', (piece: Buffer) => (bytes += piece.length)).on('error', reject)
    response.on('end', () => resolve(`${response.statusCode} with ${bytes}`))
  })
  asking.end()
  return promise
}

async function serve(t: Test, answer: (socket: Socket) => void) {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined).on('data', () => answer(socket))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

t.test('interim answers without end are an error after 64 KiB', async (t) => {
  let isOpen = true
  const flood = (socket: Socket): void => {
    socket.on('close', () => (isOpen = false))
    const more = (): void => {
      while (isOpen && socket.write(INTERIM.repeat(500)));
      if (isOpen) socket.once('drain', more)
    }
    more()
  }
  t.equal(await ask(await serve(t, flood)), 'HPE_HEADER_OVERFLOW')
})

t.test(
  'some are read, and an answer may be longer, on a connection that is used again as well',
  async (t) => {
    const body = 'x'.repeat(200 * KIB)
    const answer = `${INTERIM.repeat(1_000)}HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`
    const port = await serve(t, (socket) => socket.write(answer))
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    t.teardown(() => agent.destroy())
    for (let i = 0; i < 5; i += 1) t.equal(await ask(port, agent), `200 with ${body.length}`)
  },
)
