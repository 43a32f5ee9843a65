import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { startDelayProxy } from '../../../bench/remote/delay-proxy.ts'

const ROUND_TRIP_MS = 40

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

t.test(
  'a connection and each question take a round trip more, and everything arrives in its order',
  async (t) => {
    const echo = createServer({ allowHalfOpen: true }, (socket) => socket.pipe(socket))
    const proxy = await startDelayProxy({ port: await listening(echo), roundTripMs: ROUND_TRIP_MS })
    t.teardown(() => echo.close())
    t.teardown(() => proxy.close())
    const began = performance.now()
    const socket = connect(proxy.port, '127.0.0.1')
    socket.write('first,')
    await once(socket, 'data')
    t.ok(performance.now() - began >= 2 * ROUND_TRIP_MS - 1, 'the handshake is a round trip')
    const asked = performance.now()
    const answer = text(socket)
    for (let index = 0; index < 1_000; index += 1) socket.write(`${index},`)
    socket.end()
    t.equal(await answer, Array.from({ length: 1_000 }, (_, index) => `${index},`).join(''))
    t.ok(performance.now() - asked >= ROUND_TRIP_MS - 1, 'an answer is a round trip')
    t.equal(proxy.takeConnections(), 1)
    t.equal(proxy.takeConnections(), 0, 'counted once')
  },
)

t.test('a connection that one side breaks is broken for the other', async (t) => {
  const rude = createServer((socket) => socket.resetAndDestroy())
  const proxy = await startDelayProxy({ port: await listening(rude), roundTripMs: 1 })
  t.teardown(() => rude.close())
  t.teardown(() => proxy.close())
  const socket = connect(proxy.port, '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write('x')
  await once(socket, 'close')
  t.pass('closed')
})
