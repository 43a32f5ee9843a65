import { copyFile, rm, writeFile } from 'node:fs/promises'
import t from 'tap'
import { guardAddresses } from '../../functions/net/addresses.ts'
import type { Resolve } from '../../functions/domain/network/address-policy.ts'
import { Failure } from '../../functions/domain/failure.ts'
import { openHTTP } from '../../functions/http/http.ts'
import { followTrust } from '../../functions/net/trust.ts'
import { makeAuthority } from '../harness/certificates.ts'
import { waitFor } from '../harness/wait.ts'
import { CA_FILE, call, GET, serve, servePlainly, serveRaw, SETTINGS, urlOf } from './stage.ts'

const NEVER = new AbortController().signal

/** Every name is at these addresses, which are checked as outside of a cluster. */
function guarded(...answers: (readonly string[])[]): Resolve {
  return guardAddresses({ inCluster: false, apiServer: [] }, () => Promise.resolve(answers.shift() ?? []))
}

t.test('a request reaches the API, and its answer is returned as it is', async (t) => {
  const seen: unknown[] = []
  const place = await serve(t, (request, response) => {
    const { method, url, headers } = request
    request.setEncoding('utf8').on('data', (body: string) => seen.push({ method, url, headers, body }))
    request.on('end', () => response.writeHead(201, { 'x-number': '7' }).end('{"é":1}'))
  })
  const body = '{"title":"日本"}'
  const init = {
    method: 'post',
    headers: { Authorization: 'Bearer t0ken', 'content-type': 'application/json' },
    body,
  }
  const answer = await call(`${urlOf(place)}?page=1`, { init })
  if (answer instanceof Failure) throw answer
  t.equal(answer.status, 201)
  t.equal(answer.headers.get('x-number'), '7')
  t.equal(await answer.text(), '{"é":1}')
  const headers = {
    authorization: 'Bearer t0ken',
    'content-type': 'application/json',
    'user-agent': 'Commitlet',
    'accept-encoding': 'identity',
    host: `git.example.com:${place.port}`,
  }
  t.match(seen, [{ method: 'POST', url: '/api?page=1', headers, body }])
})

const PIECE = Buffer.alloc(1_000, 'x')
const BODIES = [
  ['whole', 'x'.repeat(100_000)],
  ['made in pieces', { bytes: 100_000, pieces: () => Array.from({ length: 100 }, () => PIECE) }],
] as const
for (const [kind, body] of BODIES) {
  t.test(
    `a request may not begin any more once there is a connection, and is not sent: ${kind}`,
    async (t) => {
      const seen: unknown[] = []
      const place = await serve(t, (request, response) => {
        seen.push(request.url)
        response.end('ok')
      })
      const init = { method: 'POST', headers: {}, body }
      const connected: number[] = []
      const mayBegin = (): boolean => connected.push(place.connections.length) > 1
      await openHTTP(SETTINGS)(urlOf(place), NEVER, async (fetch) => {
        await t.rejects(fetch(urlOf(place), { ...init, mayBegin }), { name: 'Failure', reason: 'Timeout' })
        t.match(await fetch(urlOf(place), { ...init, mayBegin }), { status: 200 })
      })
      t.equal(connected[0], 1)
      t.equal(seen.length, 1)
    },
  )
}

t.test(
  'a server that breaks off in the middle of a body that is made in pieces is a failure of the network',
  async (t) => {
    const place = await serve(t, (request) => void request.once('data', () => request.destroy()))
    const body = { bytes: 10_000_000, pieces: () => Array.from({ length: 10_000 }, () => PIECE) }
    t.match(await call(urlOf(place), { init: { method: 'POST', headers: {}, body } }), {
      reason: 'NetworkError',
    })
  },
)

t.test('an answer that comes before the end of a body that is made in pieces counts', async (t) => {
  const place = await serve(t, (request, response) => {
    request.once('data', () => response.writeHead(413, { connection: 'close' }).end('too large'))
  })
  const body = { bytes: 10_000_000, pieces: () => Array.from({ length: 10_000 }, () => PIECE) }
  t.match(await call(urlOf(place), { init: { method: 'POST', headers: {}, body } }), { status: 413 })
})

t.test('the calls of one session share a connection, and none is left after it', async (t) => {
  const place = await serve(t, (_request, response) => response.end('ok'))
  await openHTTP(SETTINGS)(urlOf(place), NEVER, async (fetch) => {
    for (let i = 0; i < 3; i += 1) await fetch(urlOf(place), GET)
  })
  t.equal(place.connections.length, 1)
  await waitFor('end of the connection', () => place.open.size === 0 || undefined, 5_000)
})

t.test('a session that fails leaves nothing open, not even what is in flight', async (t) => {
  const silent = await serveRaw(t, () => undefined)
  const place = await serve(t, () => undefined)
  for (const { port, open, connections } of [silent, place]) {
    const url = `https://git.example.com:${port}`
    const asked: Promise<unknown>[] = []
    const ended = openHTTP(SETTINGS)(url, NEVER, async (fetch) => {
      asked.push(fetch(url, GET).catch((error: unknown) => error))
      await waitFor('connection', () => connections[0], 5_000)
      throw new Failure('Conflict', 'Enough.')
    })
    t.match(await ended.catch((error: unknown) => error), { reason: 'Conflict' })
    await waitFor('end of the connection', () => open.size === 0 || undefined, 5_000)
    t.match(await Promise.all(asked), [{ name: 'Failure', reason: 'NetworkError' }])
  }
})

t.test('the connection goes to the addresses of the lookup, not to those of a later one', async (t) => {
  const place = await serve(t, (_request, response) => response.end('ok'))
  const resolve = guarded(['127.0.0.1'], ['169.254.169.254'])
  t.match(await call(urlOf(place), { settings: { resolve } }), { status: 200 })
  t.match(await call(urlOf(place), { settings: { resolve } }), {
    reason: 'AddressForbidden',
    message: /^git\.example\.com is at an address that Commitlet may not connect to/,
  })
  t.equal(place.connections.length, 1)
})

t.test('a name with one forbidden address among others is not called at all', async (t) => {
  const place = await serve(t, (_request, response) => response.end('ok'))
  const settings = { resolve: guarded(['127.0.0.1', '169.254.169.254']) }
  t.match(await call(urlOf(place), { settings }), { reason: 'AddressForbidden' })
  t.match(await call(`https://169.254.169.254:${place.port}/`, { settings }), { reason: 'AddressForbidden' })
  t.equal(place.connections.length, 0)
})

t.test('a redirect is returned as it is, and not followed', async (t) => {
  const other = await servePlainly(t, (_request, response) => response.end('elsewhere'))
  for (const status of [301, 302, 307, 308]) {
    const location = `http://localhost:${other.port}/`
    const place = await serve(t, (_request, response) => response.writeHead(status, { location }).end())
    const answer = await call(urlOf(place))
    t.match(answer, { status })
    t.equal(answer instanceof Response && answer.headers.get('location'), location)
  }
  t.equal(other.connections.length, 0)
})

t.test('another origin is refused, and nothing is sent there', async (t) => {
  const place = await serve(t, (_request, response) => response.end('ok'))
  const { port } = place
  for (const url of [
    `http://git.example.com:${port}/`,
    `https://localhost:${port}/`,
    'https://git.example.com/',
  ]) {
    const asked = openHTTP(SETTINGS)(urlOf(place), NEVER, (fetch) => fetch(url, GET))
    await t.rejects(asked, {
      reason: 'ProviderUnavailable',
      message: /points to another address, to which Commitlet does not send credentials/,
    })
  }
  t.equal(place.connections.length, 0)
})

t.test('a token that no header can carry is distinguished from a network failure', async (t) => {
  const place = await serve(t, (_request, response) => response.end('ok'))
  const init = { method: 'GET', headers: { authorization: 'Bearer tök€n' } }
  t.match(await call(urlOf(place), { init }), { reason: 'CredentialsInvalid' })
  t.equal(place.connections.length, 0)
})

t.test(
  'CA_FILE is read again when it changes, and the old authorities stay while it is broken',
  async (t) => {
    const place = await serve(t, (_request, response) => response.end('ok'))
    const caFile = `${t.testdir({})}/ca.pem`
    const told: string[] = []
    const trust = followTrust(caFile, ({ message }) => void told.push(message))
    const withAPI = openHTTP({ ...SETTINGS, trust })
    const ask = () => withAPI(urlOf(place), NEVER, (fetch) => fetch(urlOf(place), GET))
    await t.rejects(ask(), { reason: 'Internal', message: /file that CA_FILE names/ })
    await copyFile(CA_FILE, caFile)
    t.match(await ask(), { status: 200 })
    await rm(caFile)
    t.match(await ask(), { status: 200 })
    t.match(await ask(), { status: 200 })
    t.match(told, [/^The file that CA_FILE names cannot be read/])
    t.equal(told.length, 1)
    await writeFile(caFile, (await makeAuthority('Another authority')).certPEM)
    await t.rejects(ask(), { name: 'Failure', reason: 'TLSUntrusted' })
    await copyFile(CA_FILE, caFile)
    t.match(await ask(), { status: 200 })
  },
)
