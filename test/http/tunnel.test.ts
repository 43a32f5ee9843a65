import t from 'tap'
import type { Test } from 'tap'
import { Failure } from '../../functions/domain/failure.ts'
import { readProxies } from '../../functions/domain/network/proxies.ts'
import { makeAuthority } from '../harness/certificates.ts'
import { startProxy } from '../harness/connect-proxy.ts'
import type { ProxyOptions } from '../harness/connect-proxy.ts'
import { freePort, waitFor } from '../harness/wait.ts'
import { AUTHORITY, call, serve, serveRaw } from './stage.ts'

const certificate = await AUTHORITY.issue({ names: ['localhost', '127.0.0.1'] })
const TOKEN = 't0ken'

/** As the operator sets it; our own lookup would fail. */
function through(HTTPS_PROXY: string, NO_PROXY = '') {
  const proxies = readProxies({ HTTPS_PROXY, NO_PROXY })
  return { proxies, resolve: () => Promise.reject(new Failure('Internal', 'Looked up.')) }
}

async function proxied(t: Test, options: ProxyOptions = {}) {
  const proxy = await startProxy(options)
  t.teardown(() => proxy.close())
  return proxy
}

function api(t: Test) {
  return serve(t, (_request, response) => response.end('ok'))
}

for (const [title, options, place] of [
  ['plain', {}, 'http://localhost'],
  ['with a login', { login: 'me:p@ss:w/rd' }, 'http://me:p%40ss%3Aw%2Frd@localhost'],
  ['with a user name alone', { login: 'me:' }, 'http://me@localhost'],
  ['behind TLS', { certificate, login: 'me:s3cret' }, 'https://me:s3cret@localhost'],
  ['behind TLS at an IP address', { certificate }, 'https://127.0.0.1'],
] as const) {
  t.test(`a proxy (${title}) gets names, and sees no credentials of the API`, async (t) => {
    const proxy = await proxied(t, options)
    const { port, open } = await api(t)
    const settings = through(`${place}:${proxy.port}`)
    t.match(await call(`https://git.example.com:${port}/`, { settings }), { status: 200 })
    t.same(proxy.connects, [`git.example.com:${port}`])
    t.notMatch(proxy.heads.join('\n'), TOKEN)
    if (!('login' in options)) t.notMatch(proxy.heads.join('\n'), /authorization/i)
    await waitFor('end of the connection', () => open.size === 0 || undefined, 5_000)
  })
}

t.test('a host of NO_PROXY is called directly, and its address is checked', async (t) => {
  const { port } = await api(t)
  const url = `https://git.example.com:${port}/`
  const settings = through('http://localhost:1', 'example.com')
  t.match(await call(url, { settings }), { reason: 'Internal', message: 'Looked up.' })
  const resolve = () => Promise.resolve(['127.0.0.1'])
  t.match(await call(url, { settings: { ...settings, resolve } }), { status: 200 })
})

t.test('without https no proxy is used', async (t) => {
  const settings = {
    ...through('http://localhost:1'),
    insecureHosts: [{ host: 'git.example.com', port: 80 }],
  }
  t.match(await call('http://git.example.com/', { settings }), { message: 'Looked up.' })
})

for (const [title, options, login, wanted] of [
  [
    'does not know the login',
    { login: 'me:s3cret' },
    'me:wr0ng@',
    {
      reason: 'NetworkError',
      message:
        /^git\.example\.com cannot be reached: the proxy of HTTPS_PROXY does not accept the user name and password of that setting \(407\)/,
    },
  ],
  [
    'refuses the host',
    { status: 403 },
    '',
    {
      reason: 'AddressForbidden',
      message: /does not let Commitlet connect to that host \(403\); ask your Commitlet operator/,
    },
  ],
  [
    'cannot reach the host',
    { status: 502 },
    '',
    { reason: 'NetworkError', message: /cannot connect to that host and port \(502\)/ },
  ],
] as const) {
  t.test(`a proxy that ${title} is named, without its secrets`, async (t) => {
    const proxy = await proxied(t, options)
    const settings = through(`http://${login}localhost:${proxy.port}`)
    const failure = await call('https://git.example.com/', { settings })
    t.match(failure, wanted)
    t.notMatch(String(failure), /wr0ng|s3cret/)
    t.equal(proxy.connects.length, 1, 'it is asked once')
  })
}

t.test('a proxy that refuses and keeps the connection open is closed', async (t) => {
  const refusal = 'HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n'
  const { port, open } = await serveRaw(t, (socket) => socket.once('data', () => socket.write(refusal)))
  const settings = through(`http://localhost:${port}`)
  t.match(await call('https://git.example.com/', { settings }), { reason: 'AddressForbidden' })
  await waitFor('end of the connection', () => open.size === 0 || undefined, 5_000)
})

t.test('an unreachable proxy is distinguished from an unreachable host', async (t) => {
  const url = 'https://git.example.com/'
  const port = await freePort()
  t.match(await call(url, { settings: through(`http://localhost:${port}`) }), {
    reason: 'NetworkError',
    message:
      'git.example.com cannot be reached: nothing accepts the connection at the proxy of HTTPS_PROXY; Commitlet retries automatically, and your Commitlet operator should check it.',
  })
  t.match(await call(url, { settings: through('http://proxy.invalid:3128') }), {
    reason: 'NetworkError',
    message: /the proxy of HTTPS_PROXY is not known to DNS/,
  })
})

t.test(
  'a proxy that sends empty lines without end is given up after 64 KiB, and an interim answer is a refusal',
  async (t) => {
    const refusal = 'HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n'
    for (const [before, message] of [
      ['\r\n'.repeat(200_000), /the proxy of HTTPS_PROXY does not answer as a proxy/],
      ['HTTP/1.1 102 Processing\r\n\r\n'.repeat(20_000), /cannot connect to that host and port \(102\)/],
    ] as const) {
      const proxy = await serveRaw(t, (socket) => socket.once('data', () => socket.write(before + refusal)))
      const settings = through(`http://localhost:${proxy.port}`)
      t.match(await call('https://git.example.com/', { settings }), { reason: 'NetworkError', message })
    }
  },
)

t.test('a server that is not a proxy, or breaks off, is reported', async (t) => {
  const ssh = await serveRaw(t, (socket) => socket.end('SSH-2.0-x\r\n'))
  const cutting = await serveRaw(t, (socket) => socket.once('data', () => socket.end()))
  for (const [scheme, { port }, message] of [
    ['http', ssh, /the proxy of HTTPS_PROXY does not answer as a proxy/],
    ['https', ssh, /the proxy of HTTPS_PROXY does not answer as a proxy/],
    ['http', cutting, /the proxy of HTTPS_PROXY closes the connection/],
  ] as const) {
    const settings = through(`${scheme}://localhost:${port}`)
    t.match(await call('https://git.example.com/', { settings }), { reason: 'NetworkError', message })
  }
})

t.test("the proxy's own certificate is checked, also where the host's need not be", async (t) => {
  const stranger = await makeAuthority('Somebody else')
  const { port } = await api(t)
  const insecureHosts = [{ host: 'git.example.com', port }]
  for (const [issuer, request, says] of [
    [stranger, {}, /HTTPS_PROXY shows a certificate that no trusted authority has signed/],
    [
      AUTHORITY,
      { names: ['proxy.example.com'] },
      /HTTPS_PROXY shows a certificate that was made for another name/,
    ],
    [AUTHORITY, { expired: true }, /HTTPS_PROXY shows a certificate that has expired/],
  ] as const) {
    const shown = await issuer.issue({ names: ['localhost'], ...request })
    const proxy = await proxied(t, { certificate: shown, login: 'me:s3cret' })
    const settings = { ...through(`https://me:s3cret@localhost:${proxy.port}`), insecureHosts }
    t.match(await call(`https://git.example.com:${port}/`, { settings }), {
      reason: 'TLSUntrusted',
      message: says,
    })
    t.same(proxy.heads, [], 'no login is sent')
  }
})

for (const scheme of ['http', 'https']) {
  t.test(`behind a proxy (${scheme}) the host's certificate is checked as always`, async (t) => {
    const proxy = await proxied(t, scheme === 'https' ? { certificate } : {})
    const names = { names: ['localhost'] }
    const { port, open } = await serve(t, (_request, response) => response.end('ok'), names)
    const url = `https://git.example.com:${port}/`
    const settings = through(`${scheme}://localhost:${proxy.port}`)
    t.match(await call(url, { settings }), {
      reason: 'TLSUntrusted',
      message: /^git\.example\.com:\d+ shows a certificate that was made for another name/,
    })
    await waitFor('end of the connection', () => open.size === 0 || undefined, 5_000)
    const insecureHosts = [{ host: 'git.example.com', port }]
    t.match(await call(url, { settings: { ...settings, insecureHosts } }), { status: 200 })
  })
}

t.test('a silent proxy is given up, before TLS and after', async (t) => {
  const place = await serveRaw(t, () => undefined)
  for (const scheme of ['http', 'https']) {
    const settings = through(`${scheme}://localhost:${place.port}`)
    const failure = await call('https://git.example.com/', { settings, signal: AbortSignal.timeout(100) })
    t.match(failure, { reason: 'Timeout' })
  }
  await waitFor('end of the connections', () => place.open.size === 0 || undefined, 5_000)
})
