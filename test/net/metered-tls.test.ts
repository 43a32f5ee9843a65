import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setImmediate } from 'node:timers/promises'
import { createServer } from 'node:tls'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import type { Test } from 'tap'
import { Failure } from '../../functions/domain/failure.ts'
import type { Share } from '../../functions/domain/network/share.ts'
import { openConnection } from '../../functions/http/connection.ts'
import { connectTLS, meterTLS, type MeteredConnection } from '../../functions/net/metered-tls.ts'
import { followTrust } from '../../functions/net/trust.ts'
import { AUTHORITY, CA_FILE, serveRaw } from '../http/stage.ts'

const trust = await followTrust(CA_FILE).context()
const KIB = 1024

/** A metered connection to a server that sends these bytes and then ends. */
async function receive(t: Test, bytes: Buffer): Promise<MeteredConnection> {
  const { port } = await serveRaw(t, (socket) => socket.end(bytes))
  const metered = meterTLS(connect({ port, host: '127.0.0.1' }))
  t.teardown(() => metered.below.destroy())
  return metered
}

/** How much has come, and the size of the largest piece. */
async function readUntil(below: Duplex, most: number): Promise<{ read: number; largest: number }> {
  let [read, largest] = [0, 0]
  for await (const piece of below) {
    const { length } = piece as Buffer
    read += length
    largest = Math.max(largest, length)
    if (read >= most) break
  }
  return { read, largest }
}

t.test('bytes that become no data are read in pieces, and after 32 KiB slowly', async (t) => {
  const { below } = await receive(t, Buffer.alloc(1024 * KIB))
  const start = performance.now()
  const { read, largest } = await readUntil(below, 35 * KIB)
  const seconds = (performance.now() - start) / 1000
  t.ok(largest <= 16 * KIB, `a piece of ${largest} bytes`)
  t.ok(read <= (32 + 1 + seconds * 4) * KIB, `${read} bytes in ${seconds} s`)
  t.ok(seconds < 10, `${seconds} s`)
})

t.test('all that becomes data is read at once, in order, to the end', async (t) => {
  const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, i) => `${i} `).join(''))
  const { below, decryptedBy } = await receive(t, bytes)
  let read = 0
  below.on('data', ({ length }: Buffer) => (read += length))
  decryptedBy(() => read)
  const start = performance.now()
  t.equal(await text(below), bytes.toString())
  t.ok(performance.now() - start < 10_000)
})

t.test('an error of the connection is one of the metered connection', async (t) => {
  const { port } = await serveRaw(t, (socket) => socket.resetAndDestroy())
  const { below } = meterTLS(connect({ port, host: '127.0.0.1' }))
  const [error] = (await once(below, 'error')) as [NodeJS.ErrnoException]
  t.equal(error.code, 'ECONNRESET')
  below.resume()
})

t.test('after its end no error of a connection is told', async (t) => {
  const { certPEM, keyPEM } = await AUTHORITY.issue({ names: ['git.example.com'] })
  const server = createServer({ cert: certPEM, key: keyPEM }, (socket) => socket.on('error', () => undefined))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const behind = (server.address() as AddressInfo).port
  const { port, connections } = await serveRaw(t, (socket) => {
    const further = connect({ port: behind, host: '127.0.0.1' }).on('error', () => undefined)
    socket
      .on('close', () => further.destroy())
      .pipe(further)
      .pipe(socket)
  })
  for (const bytes of [1, 10 * 1024 * KIB]) {
    const plain = connect({ port, host: '127.0.0.1' })
    const secured = connectTLS(plain, { servername: 'git.example.com', secureContext: trust })
    await once(secured, 'secureConnect')
    const told: string[] = []
    secured.on('error', () => told.push('error')).on('close', () => told.push('close'))
    connections.at(-1)?.resetAndDestroy()
    secured.write(Buffer.alloc(bytes))
    await new Promise((resolve) => secured.once('close', resolve))
    for (let turn = 0; turn < 3; turn += 1) await setImmediate()
    t.equal(told.at(-1), 'close', String(told))
  }
})

t.test('a server that sends its data in records of one byte is read slowly', async (t) => {
  const { certPEM, keyPEM } = await AUTHORITY.issue({ names: ['git.example.com'] })
  const server = createServer({ cert: certPEM, key: keyPEM }, (socket) => {
    socket.on('error', () => undefined)
    const next = (): unknown => !socket.destroyed && socket.write('x', next)
    next()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const socket = await openConnection({
    destination: { scheme: 'https', host: 'git.example.com', port },
    route: { addresses: ['127.0.0.1'], proxy: undefined, insecure: false },
    trust,
    shownHost: 'git.example.com',
    signal: new AbortController().signal,
  })
  const start = performance.now()
  const { read } = await readUntil(socket, 1_800)
  const seconds = (performance.now() - start) / 1000
  socket.destroy()
  // 22 bytes of overhead each.
  t.ok(read <= 1_550 + seconds * 190, `${read} records in ${seconds} s`)
})

t.test('a handshake of more than 12 KiB ends the connection', async (t) => {
  const hosts = Array.from(
    { length: 230 },
    (_, i) => `a-long-name-of-one-of-very-many-hosts-${i}.example.com`,
  )
  for (const [names, outcome] of [
    [hosts.slice(0, 180), 'connected'],
    [hosts, 'TLSUntrusted'],
  ] as const) {
    const { certPEM, keyPEM } = await AUTHORITY.issue({ names: ['git.example.com', ...names] })
    const server = createServer({ cert: certPEM, key: keyPEM }, (socket) =>
      socket.on('error', () => undefined),
    )
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.teardown(() => server.close())
    const { port } = server.address() as AddressInfo
    const connection = openConnection({
      destination: { scheme: 'https', host: 'git.example.com', port },
      route: { addresses: ['127.0.0.1'], proxy: undefined, insecure: false },
      trust,
      shownHost: 'git.example.com',
      signal: new AbortController().signal,
    })
    const ended = await connection.then(
      (socket) => (socket.destroy(), 'connected'),
      (error: unknown) => (error instanceof Failure ? error.reason : error),
    )
    t.equal(ended, outcome)
  }
})

t.test(
  'a handshake is read in the share of whoever names the host, and what comes after it at once',
  async (t) => {
    const { certPEM, keyPEM } = await AUTHORITY.issue({ names: ['git.example.com'] })
    const server = createServer({ cert: certPEM, key: keyPEM }, (socket) => socket.end('data'))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.teardown(() => server.close())
    const { port } = server.address() as AddressInfo
    const open = (share: Share): Promise<Socket> =>
      openConnection({
        destination: { scheme: 'https', host: 'git.example.com', port },
        route: { addresses: ['127.0.0.1'], proxy: undefined, insecure: false, share },
        trust,
        shownHost: 'git.example.com',
        signal: new AbortController().signal,
      })
    let shares = 0
    const waits = Promise.withResolvers<() => void>()
    const opened = open((work) => {
      shares += 1
      return new Promise((resolve) => waits.resolve(() => resolve(work())))
    })
    const go = await waits.promise
    let isOpen = false
    void opened.then(() => (isOpen = true))
    // The whole handshake of the server has come with its first bytes, or is read in another share.
    await setImmediate()
    t.equal(isOpen, false)
    go()
    const socket = await opened
    const counted = shares
    t.equal(await text(socket), 'data')
    t.equal(shares, counted)

    const late = new Failure('Timeout', 'The share came too late.')
    await t.rejects(
      open(() => Promise.reject(late)),
      late,
    )
  },
)

t.test('a host cannot negotiate again after its handshake, which has no bound then', async (t) => {
  const { certPEM, keyPEM } = await AUTHORITY.issue({ names: ['git.example.com'] })
  const told = Promise.withResolvers<string>()
  const server = createServer({ cert: certPEM, key: keyPEM, maxVersion: 'TLSv1.2' }, (socket) => {
    socket.on('error', (error: NodeJS.ErrnoException) => told.resolve(error.code ?? error.message))
    socket.renegotiate({}, (error) => told.resolve(error === null ? 'negotiated' : error.message))
    socket.write('data')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const socket = await openConnection({
    destination: { scheme: 'https', host: 'git.example.com', port },
    route: { addresses: ['127.0.0.1'], proxy: undefined, insecure: false },
    trust,
    shownHost: 'git.example.com',
    signal: new AbortController().signal,
  })
  socket.on('error', () => undefined).resume()
  t.teardown(() => socket.destroy())
  t.match(await told.promise, /NO_RENEGOTIATION/)
})
