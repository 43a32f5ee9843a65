import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { createSecureContext, createServer as createTLSServer } from 'node:tls'
import type { SecureContext } from 'node:tls'
import t from 'tap'
import type { Test } from 'tap'
import { readProxies } from '../../functions/domain/network/proxies.ts'
import { openTunnel, type Opening } from '../../functions/net/tunnel.ts'
import { startProxy, type ProxyOptions } from '../harness/connect-proxy.ts'
import { makeAuthority } from '../harness/certificates.ts'

const echo = createServer((socket) => socket.pipe(socket)).listen(0, '127.0.0.1')
await once(echo, 'listening')
t.teardown(() => echo.close())
const { port } = echo.address() as AddressInfo
const authority = await makeAuthority()
const certificate = await authority.issue({ names: ['localhost'] })

function trustIn({ certPEM }: typeof authority): SecureContext {
  return createSecureContext({ ca: certPEM })
}

async function opening(t: Test, options: ProxyOptions, login = '') {
  const proxy = await startProxy(options)
  t.teardown(() => proxy.close())
  const scheme = options.certificate === undefined ? 'http' : 'https'
  const { proxy: by } = readProxies({ HTTPS_PROXY: `${scheme}://${login}localhost:${proxy.port}` })
  if (by === undefined) throw new Error('There is no proxy.')
  const how: Opening = { proxy: by, trust: trustIn(authority), signal: AbortSignal.timeout(30_000) }
  return { proxy, how }
}

for (const [title, options, login] of [
  ['plain', {}, ''],
  ['with a login', { login: 'me:p@ss:w/rd' }, 'me:p%40ss%3Aw%2Frd@'],
  ['behind TLS', { certificate, login: 'me:' }, 'me@'],
] as const) {
  t.test(`what is sent into a tunnel arrives behind the proxy: ${title}`, async (t) => {
    const { proxy, how } = await opening(t, options, login)
    for (const host of ['git.example.com', '2001:db8::7']) {
      const socket = await openTunnel({ host, port }, how)
      if (typeof socket === 'number') throw new Error(`It answers with ${socket}.`)
      socket.write('hello')
      t.equal(String((await once(socket, 'data'))[0]), 'hello')
      socket.destroy()
    }
    t.same(proxy.connects, [`git.example.com:${port}`, `[2001:db8::7]:${port}`])
    if (login === '') t.notMatch(proxy.heads.join(), /authorization/i)
  })
}

for (const [title, write, error] of [
  [
    'drips its answer',
    (socket) => void setInterval(() => socket.write('a'), 5).unref(),
    { name: 'AbortError' },
  ],
  [
    'has no end of headers',
    (socket) => void socket.write(`x: ${'a'.repeat(20_000)}`),
    { code: 'HPE_HEADER_OVERFLOW' },
  ],
] as const satisfies readonly (readonly [string, (socket: Socket) => void, object])[]) {
  t.test(`a proxy that ${title} is left`, async (t) => {
    const server = createServer((socket) => {
      socket
        .on('error', () => undefined)
        .once('data', () => {
          socket.write('HTTP/1.1 200 OK\r\n')
          write(socket)
        })
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.teardown(() => server.close())
    const at = (server.address() as AddressInfo).port
    const { proxy } = readProxies({ HTTPS_PROXY: `http://localhost:${at}` })
    if (proxy === undefined) throw new Error('There is no proxy.')
    const how = { proxy, trust: trustIn(authority), signal: AbortSignal.timeout(300) }
    await t.rejects(openTunnel({ host: 'git.example.com', port }, how), error)
  })
}

t.test('a refusal, an untrusted proxy and a deadline end it', async (t) => {
  const target = { host: 'git.example.com', port }
  for (const [options, login, status] of [
    [{ status: 403 }, '', 403],
    [{ login: 'me:s3cret' }, 'me:wr0ng@', 407],
  ] as const) {
    t.equal(await openTunnel(target, (await opening(t, options, login)).how), status)
  }
  const { how } = await opening(t, { certificate })
  const stranger = await makeAuthority('Somebody else')
  const untrusting = { ...how, trust: trustIn(stranger) }
  await t.rejects(openTunnel(target, untrusting), { message: /certificate/ })
  await t.rejects(openTunnel(target, { ...how, signal: AbortSignal.abort() }), { name: 'AbortError' })
})

t.test('what a proxy behind TLS passes on in records of one byte is read slowly', async (t) => {
  const { certPEM: cert, keyPEM } = certificate
  const server = createTLSServer({ cert, key: keyPEM }, (socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => {
      const next = (): unknown => !socket.destroyed && socket.write('x', next)
      socket.write('HTTP/1.1 200 OK\r\n\r\n', next)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const at = (server.address() as AddressInfo).port
  const { proxy } = readProxies({ HTTPS_PROXY: `https://localhost:${at}` })
  if (proxy === undefined) throw new Error('There is no proxy.')
  const how = { proxy, trust: trustIn(authority), signal: AbortSignal.timeout(30_000) }
  const socket = await openTunnel({ host: 'git.example.com', port }, how)
  if (typeof socket === 'number') throw new Error(`It answers with ${socket}.`)
  const start = performance.now()
  let read = 0
  for await (const piece of socket) if ((read += (piece as Buffer).length) >= 1_800) break
  const seconds = (performance.now() - start) / 1000
  // 22 bytes of overhead each.
  t.ok(read <= 1_550 + seconds * 190, `${read} records in ${seconds} s`)
})
