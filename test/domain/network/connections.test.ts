import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import { boundConnections } from '../../../functions/domain/network/connections.ts'

/** A server for two connections; `open` returns both ends of a new one. */
async function start(t: Test) {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const connections = boundConnections(server, 2, {
    // In a tenth of the time.
    wait: (milliseconds, signal) => pause(milliseconds / 10, undefined, { signal }),
    doNext: (work) => process.nextTick(queueMicrotask, work),
  })
  const { port } = server.address() as AddressInfo
  const sockets: Socket[] = []
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  async function open() {
    const arrives = once(server, 'connection') as Promise<[Socket]>
    const client = connect({ port, host: '127.0.0.1' })
    const [served] = await arrives
    sockets.push(
      client.on('error', () => undefined),
      served.on('error', () => undefined),
    )
    return served
  }
  return { connections, open }
}

t.test('one more takes the place of the one that has been silent for longest', async (t) => {
  const { connections, open } = await start(t)
  const [first, second] = [await open(), await open()]
  connections.begin(first)?.()
  const third = await open()
  t.strictSame([first.destroyed, second.destroyed, third.destroyed], [false, true, false])
})

t.test('one that is held is not closed, and if all are held, the new one is', async (t) => {
  const { connections, open } = await start(t)
  const [first, second] = [await open(), await open()]
  const release = connections.hold(first)
  const third = await open()
  t.strictSame([first.destroyed, second.destroyed], [false, true])
  connections.hold(third)
  t.ok((await open()).destroyed)
  release()
  await open()
  t.ok(first.destroyed)
})

t.test('one with more than eight requests without an answer is closed', async (t) => {
  const { connections, open } = await start(t)
  const served = await open()
  const releases = Array.from({ length: 8 }, () => connections.begin(served))
  t.ok(releases.every((release) => release !== undefined))
  releases[0]?.()
  t.ok(connections.begin(served), 'an answer makes room')
  t.notOk(served.destroyed)
  t.equal(connections.begin(served), undefined)
  t.ok(connections.isSlow(served))
  const began = performance.now()
  await once(served, 'close')
  t.ok(performance.now() - began > 450, 'a flood waits for its end')
})

t.test('one that is slowed down is answered after 5 s, or when it has closed', async (t) => {
  const { connections, open } = await start(t)
  const [first, second] = [await open(), await open()]
  const began = performance.now()
  const closed = connections.slowDown(second)
  second.destroy()
  await closed
  t.ok(performance.now() - began < 450)
  await connections.slowDown(first)
  t.ok(performance.now() - began > 450)
  t.notOk(first.destroyed)
})

t.test('requests of one connection that are slowed down wait together', async (t) => {
  const { connections, open } = await start(t)
  const served = await open()
  const before = served.listenerCount('close')
  const [first, second] = [connections.slowDown(served), connections.slowDown(served)]
  t.equal(served.listenerCount('close'), before + 1)
  await Promise.all([first, second])
})
