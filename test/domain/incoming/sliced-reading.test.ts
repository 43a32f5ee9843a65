import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, RequestListener } from 'node:http'
import { connect } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import type { Test } from 'tap'
import { openReadingTurns } from '../../../functions/domain/incoming/reading-turns.ts'
import { readInSlices } from '../../../functions/domain/incoming/sliced-reading.ts'
import { TIMING } from '../../../functions/net/timing.ts'

const REQUEST = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n'
const LAST = 'GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'

async function start(t: Test, listener: (...of: Parameters<RequestListener>) => void) {
  const server = createServer(listener)
  const reading = readInSlices(server, { ...TIMING, inTurn: openReadingTurns(TIMING) }, (socket) =>
    socket.destroy(),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const open = (): Socket => connect({ port, host: '127.0.0.1' }).on('error', () => undefined)
  return { reading, open }
}

t.test('of what has come, only the first requests are parsed once a connection is stopped', async (t) => {
  const seen: Socket[] = []
  const { reading, open } = await start(t, (request, response) => {
    seen.push(request.socket)
    reading.stop(request.socket)
    response.setHeader('connection', 'close').end('stopped')
  })
  const socket = open()
  socket.write(REQUEST.repeat(2_000))
  t.match(await text(socket).catch(String), /stopped$/)
  t.ok(seen.length <= 40, `${seen.length} requests`)
  t.ok(reading.isStopped(seen[0]!))
})

t.test('a connection that is stopped is not read any more, whatever it sends', async (t) => {
  const { promise: done, resolve } = Promise.withResolvers<number>()
  const { reading, open } = await start(t, ({ socket }) => {
    reading.stop(socket)
    const look = (turns: number): unknown =>
      turns === 0 ? resolve(socket.bytesRead) : setImmediate(look, turns - 1)
    look(500)
  })
  const socket = open()
  socket.write(REQUEST.repeat(1_000_000))
  const read = await done
  t.ok(read <= 4 * 64 * 1024, `${read} bytes`)
  socket.destroy()
})

t.test('of a body in small chunks as well', async (t) => {
  let chunks = 0
  const { reading, open } = await start(t, (request: IncomingMessage) => {
    request.on('data', () => {
      chunks += 1
      reading.stop(request.socket)
    })
    setImmediate(() => request.socket.destroy())
  })
  const socket = open()
  const head = 'POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n'
  socket.write(head + '1\r\n \r\n'.repeat(10_000))
  await text(socket).catch(String)
  t.ok(chunks > 0 && chunks <= 200, `${chunks} chunks`)
})

t.test('bodies of any size arrive as they were sent, one after the other', async (t) => {
  const { open } = await start(t, (request, response) => {
    void text(request).then((body) => response.end(`${body.length};`))
  })
  const socket = open()
  const sizes = [0, 1, 1_023, 100_000, 3_000_000]
  for (const size of sizes) {
    socket.write(`POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${size}\r\n\r\n${'x'.repeat(size)}`)
  }
  socket.write(LAST)
  const answers = [...(await text(socket)).matchAll(/(\d+);/g)].map(([, size]) => Number(size))
  t.same(answers, [...sizes, 0])
})

t.test('who does not read the answers is read again once they do', async (t) => {
  let requests = 0
  const { open } = await start(t, (_request, response) => {
    requests += 1
    response.end('x'.repeat(200_000))
  })
  const socket = open()
  socket.pause().write(REQUEST.repeat(400) + LAST)
  await once(socket, 'readable')
  t.equal((await text(socket)).split('HTTP/1.1 200').length - 1, 401)
  t.equal(requests, 401)
})
