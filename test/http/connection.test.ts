import { once } from 'node:events'
import { createServer } from 'node:https'
import t from 'tap'
import { followTrust } from '../../functions/net/trust.ts'
import { openConnection } from '../../functions/http/connection.ts'
import type { ConnectionTarget } from '../../functions/http/connection.ts'
import { makeAuthority } from '../harness/certificates.ts'
import { freePort, waitFor } from '../harness/wait.ts'
import { AUTHORITY, CA_FILE, call, serve, servePlainly, serveRaw } from './stage.ts'

const ok = (_request: unknown, response: { end(text: string): void }): void => response.end('ok')
const trust = await followTrust(CA_FILE).context()

function wayTo(port: number, addresses: readonly string[], host = 'git.example.com'): ConnectionTarget {
  return {
    destination: { scheme: 'https', host, port },
    route: { addresses, proxy: undefined, insecure: false },
    trust,
    shownHost: `${host}:${port}`,
    signal: new AbortController().signal,
  }
}

t.test('of several addresses one that works is used', async (t) => {
  const { port, connections } = await serve(t, ok)
  for (const addresses of [
    ['127.0.0.2', '127.0.0.1'],
    ['::1', '127.0.0.1'],
    ['127.0.0.1', '::1'],
  ]) {
    const socket = await openConnection(wayTo(port, addresses))
    t.equal(connections.at(-1)?.localAddress, '127.0.0.1')
    socket.destroy()
  }
})

t.test('a server gets the name as SNI, an IP address is not sent', async (t) => {
  const place = await serve(
    t,
    ({ socket }, response) => response.end(String('servername' in socket && socket.servername)),
    { names: ['git.example.com', '127.0.0.1'] },
  )
  for (const [host, name] of [
    ['git.example.com', 'git.example.com'],
    ['127.0.0.1', 'false'],
  ] as const) {
    const answer = await call(`https://${host}:${place.port}/`)
    t.equal(answer instanceof Response && (await answer.text()), name)
  }
})

t.test('where no address works, the sentence says so', async (t) => {
  const port = await freePort()
  for (const addresses of [['127.0.0.1'], ['127.0.0.2', '::1', '127.0.0.1']]) {
    await t.rejects(openConnection(wayTo(port, addresses)), {
      reason: 'NetworkError',
      message: `git.example.com:${port} cannot be reached: nothing accepts the connection at that host and port; Commitlet retries automatically, but check the address.`,
    })
  }
})

for (const [title, certificate, says] of [
  ['has expired', { expired: true }, /shows a certificate that has expired, .* renew it\.$/],
  ['is not valid yet', { early: true }, /shows a certificate that is not valid yet/],
  [
    'is for another name',
    { names: ['localhost'] },
    /shows a certificate that was made for another name; use the name/,
  ],
  [
    'an unknown authority has signed',
    { by: await makeAuthority('Somebody else') },
    /shows a certificate that no trusted authority has signed; the operator adds its authority to CA_FILE/,
  ],
  [
    'an authority with the same name and another key has signed',
    { by: await makeAuthority() },
    /shows a certificate that no trusted authority has signed; the operator adds its authority to CA_FILE/,
  ],
] as const) {
  t.test(`a certificate that ${title} is reported, and no request is sent`, async (t) => {
    let asked = 0
    const place = await serve(t, (_request, response) => response.end(String((asked += 1))), certificate)
    const url = `https://git.example.com:${place.port}/`
    t.match(await call(url), { reason: 'TLSUntrusted', retry: 'slow', message: says })
    t.equal(asked, 0)
    await waitFor('end of the connection', () => place.open.size === 0 || undefined, 5_000)
  })

  t.test(
    `a certificate that ${title} is accepted only for the exact host and port of INSECURE_HOSTS`,
    async (t) => {
      const { port } = await serve(t, ok, certificate)
      const url = `https://git.example.com:${port}/`
      const insecure = (...hosts: { host: string; port?: number }[]) => ({
        settings: { insecureHosts: hosts.map(({ host, port: at }) => ({ host, port: at })) },
      })
      t.match(await call(url, insecure({ host: 'git.example.com', port })), { status: 200 })
      const others = [
        { host: 'git.example.com' },
        { host: 'example.com', port },
        { host: 'git.example.com', port: port - 1 },
      ]
      t.match(await call(url, insecure(...others)), { reason: 'TLSUntrusted' })
    },
  )
}

t.test('without CA_FILE the authority is not trusted', async (t) => {
  const { port } = await serve(t, ok)
  const settings = { trust: followTrust(undefined) }
  t.match(await call(`https://git.example.com:${port}/`, { settings }), { reason: 'TLSUntrusted' })
})

t.test('an IP address is called as it is, and the certificate has to name it', async (t) => {
  const named = await serve(t, ok, { names: ['git.example.com'] })
  const addressed = await serve(t, ok, { names: ['127.0.0.1'] })
  t.match(await call(`https://127.0.0.1:${addressed.port}/`), { status: 200 })
  t.match(await call(`https://127.0.0.1:${named.port}/`), {
    reason: 'TLSUntrusted',
    message: /made for another name/,
  })
})

// Only IPv6 addresses are in brackets; ::1 is this machine, like 127.0.0.1.
t.test('an IPv6 address is called as it is', async (t) => {
  const { certPEM, keyPEM } = await AUTHORITY.issue({ names: ['::1'] })
  const server = createServer({ cert: certPEM, key: keyPEM }, ok).listen(0, '::1')
  const listening = await Promise.race([once(server, 'listening'), once(server, 'error')])
  t.teardown(() => server.close())
  const at = server.address()
  if (at === null || typeof at === 'string') return void t.pass(`no IPv6 here: ${String(listening[0])}`)
  t.match(await call(`https://[::1]:${at.port}/`), { status: 200 })
})

t.test('a server without TLS, or one that breaks it off, does not count as a bad certificate', async (t) => {
  const plain = await servePlainly(t, ok)
  const cutting = await serveRaw(t, (socket) => socket.once('data', () => socket.end()))
  const resetting = await serveRaw(t, (socket) => socket.once('data', () => socket.resetAndDestroy()))
  for (const [{ port }, message] of [
    [plain, /cannot be reached: the TLS handshake failed; .* check the address/],
    [cutting, /cannot be reached: it closes the connection at once/],
    [resetting, /cannot be reached: it closes the connection at once/],
  ] as const) {
    t.match(await call(`https://git.example.com:${port}/`), { reason: 'NetworkError', message })
  }
})

t.test('TLS is given up when the time of a connection is over, or when the signal fires', async (t) => {
  const place = await serveRaw(t, () => undefined)
  const way = wayTo(place.port, ['127.0.0.1'])
  const late = {
    reason: 'Timeout',
    message: /did not accept the connection in time; Commitlet retries automatically\.$/,
  }
  await t.rejects(openConnection(way, 50), late)
  await t.rejects(openConnection({ ...way, signal: AbortSignal.timeout(50) }), late)
  await t.rejects(openConnection({ ...way, signal: AbortSignal.abort() }), late)
  await waitFor('end of the connections', () => place.open.size === 0 || undefined, 5_000)
})

t.test('an established connection outlives the time limit for opening one', async (t) => {
  const { port } = await serve(t, ok)
  const expiry = AbortSignal.timeout(400)
  const socket = await openConnection(wayTo(port, ['127.0.0.1']), 400)
  await once(expiry, 'abort')
  t.notOk(socket.destroyed)
  socket.destroy()
})
