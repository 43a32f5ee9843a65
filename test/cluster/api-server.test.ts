import diagnostics from 'node:diagnostics_channel'
import { readFile, writeFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { openApiServer, apiServerEndpoint, ownNamespace } from '../../functions/cluster/api-server.ts'
import { Failure } from '../../functions/domain/failure.ts'
import { WrongSetting } from '../../functions/domain/settings.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import { freePort, waitFor } from '../harness/wait.ts'
import { finding, openAs, plainConfig, standIn, writeConfig } from './stage.ts'

const GET = { method: 'GET', path: '/version' } as const
const WHO_AM_I = {
  method: 'POST',
  path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
  body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
} as const

t.test('a server that stays silent, also in the middle of an answer, ends the call after 15 s', async (t) => {
  const silent = await standIn(t, () => undefined)
  const begun = await standIn(t, (_request, response) => {
    response.writeHead(200, { 'content-length': 10 }).write('{')
  })
  const began = Date.now()
  const late = [silent, begun].map(async (url) => {
    const server = openAs(await writeConfig(t, plainConfig(url)))
    await t.rejects(server(GET), {
      name: 'Failure',
      reason: 'Timeout',
      message: 'The API server did not answer within 15 s; Commitlet retries automatically.',
    })
    t.ok(Date.now() - began > 14_000, 'it had its time')
  })
  await Promise.all(late)
})

t.test('of very many calls at the same moment, a few begin in a turn of the event loop', async (t) => {
  const url = await standIn(t, (_request, response) => response.end('{}'))
  const server = openAs(await writeConfig(t, plainConfig(url)))
  await server(GET)
  let [begun, inTurn, most] = [0, 0, 0]
  function count(): void {
    if (inTurn === 0) setImmediate(() => (inTurn = 0))
    inTurn += 1
    begun += 1
    most = Math.max(most, inTurn)
  }
  diagnostics.subscribe('http.client.request.created', count)
  t.teardown(() => diagnostics.unsubscribe('http.client.request.created', count))
  await Promise.all(Array.from({ length: 500 }, () => server(GET)))
  t.equal(begun, 500)
  t.ok(most <= 50, `${most} in a turn`)
})

t.test('a server that cannot be found is a NetworkError', async (t) => {
  const url = `http://127.0.0.1:${await freePort()}`
  const server = openAs(await writeConfig(t, plainConfig(url)))
  await t.rejects(server(GET), {
    name: 'Failure',
    reason: 'NetworkError',
    message: 'The API server could not be reached; Commitlet retries automatically.',
  })
})

t.test('an answer that is cut is a NetworkError', async (t) => {
  const url = await standIn(t, (_request, response) => {
    response.writeHead(200, { 'content-length': 10 })
    response.write('{', () => response.destroy())
  })
  const server = openAs(await writeConfig(t, plainConfig(url)))
  await t.rejects(server(GET), { name: 'Failure', reason: 'NetworkError' })
})

t.test('an answer that switches protocols ends the call at once', async (t) => {
  const url = await standIn(t, (_request, response) => {
    response.writeHead(101, { connection: 'Upgrade', upgrade: 'other' }).end()
  })
  const server = openAs(await writeConfig(t, plainConfig(url)))
  t.match(await server(GET), { status: 101, text: '' })
})

t.test('an answer above 32 MiB is refused, and the rest of it is not read', async (t) => {
  let sent = 0
  const url = await standIn(t, (_request, response) => {
    const mebibyte = Buffer.alloc(1024 * 1024, ' ')
    const more = (): void => {
      if (sent >= 512) return void response.end()
      sent += 1
      response.write(mebibyte, (error) => (error ? undefined : setImmediate(more)))
    }
    more()
  })
  const server = openAs(await writeConfig(t, plainConfig(url)))
  await t.rejects(server(GET), {
    name: 'Failure',
    reason: 'NotSupported',
    message: 'The API server answered with more than 32 MiB; name a smaller object.',
  })
  t.ok(sent < 256, `${sent} MiB were sent`)
})

t.test('connections are kept, and stale ones are replaced silently', async (t) => {
  const seen = new Map<unknown, number>()
  let closing = false
  const waiting: (() => void)[] = []
  const url = await standIn(t, (request, response) => {
    const before = seen.get(request.socket) ?? 0
    seen.set(request.socket, before + 1)
    // Like a load balancer that forgot the connection: the reset comes with the next request.
    if (closing && before > 0) return void request.socket.resetAndDestroy()
    waiting.push(() => response.end('{}'))
    if (closing || waiting.length === 3) for (const answer of waiting.splice(0)) answer()
  })
  const server = openAs(await writeConfig(t, plainConfig(url)))
  await Promise.all([server(GET), server(GET), server(GET)])
  await Promise.all([server(GET), server(GET), server(GET)])
  t.same([...seen.values()], [2, 2, 2], 'three connections carried six calls')
  closing = true
  for (const method of ['GET', 'PATCH'] as const) {
    const answer = await server(method === 'GET' ? GET : { method, path: '/x', body: { a: 1 } })
    t.equal(answer.status, 200, method)
  }
})

t.test('what is sent: method, path below the base path, body, content type, login', async (t) => {
  const requests: { request: IncomingMessage; body: string }[] = []
  const url = await standIn(t, (request, response) => {
    void text(request).then((body) => {
      requests.push({ request, body })
      response.end('{}')
    })
  })
  const config = plainConfig(`${url}/clusters/one/`, { token: 'tkn' })
  const server = openAs(await writeConfig(t, config))
  await server({ method: 'GET', path: '/api/v1?limit=1', accept: 'application/x' })
  await server({ method: 'PATCH', path: '/p', body: { ä: 1 }, contentType: 'application/merge-patch+json' })
  await server({ method: 'POST', path: '/p', body: {} })
  t.match(
    requests.map(({ request, body }) => [request.method, request.url, body]),
    [
      ['GET', '/clusters/one/api/v1?limit=1', ''],
      ['PATCH', '/clusters/one/p', '{"ä":1}'],
      ['POST', '/clusters/one/p', '{}'],
    ],
  )
  const [get, patch, post] = requests.map(({ request }) => request.headers)
  t.match(get, { accept: 'application/x', authorization: 'Bearer tkn', 'user-agent': 'commitlet' })
  t.match(patch, { 'content-type': 'application/merge-patch+json', 'content-length': '8' })
  t.match(post, { 'content-type': 'application/json', accept: 'application/json' })
})

t.test('a watch is handed on by lines, until its end, its time or a signal', async (t) => {
  const gone: string[] = []
  const url = await standIn(t, (request, response) => {
    request.once('close', () => gone.push(`${request.url}`))
    if (request.url === '/denied') return void response.writeHead(403).end('{"kind":"Status"}')
    response.write('one\n')
    if (request.url === '/ends') response.end('two\n')
    if (request.url === '/cut') response.destroy()
    if (request.url === '/long') response.write('x'.repeat(5 * 1024 * 1024))
  })
  const server = openAs(await writeConfig(t, plainConfig(url)))
  const taken: string[] = []
  const abort = new AbortController()
  const watch = (path: string, forMs = 60_000) =>
    server({ method: 'GET', path, lines: { take: (line) => taken.push(line), forMs, signal: abort.signal } })
  t.match(await watch('/ends'), { status: 200, text: '', date: undefined })
  t.same(taken, ['one', 'two'])
  t.match(await watch('/denied'), { status: 403, text: '{"kind":"Status"}' })
  await t.rejects(watch('/cut'), { name: 'Failure', reason: 'NetworkError' })
  await t.rejects(watch('/long'), { name: 'Failure', reason: 'NotSupported' })
  await t.rejects(watch('/open', 50), { name: 'Failure', reason: 'Timeout' })
  const stopped = watch('/stopped')
  abort.abort()
  await t.rejects(stopped, { name: 'Failure', reason: 'Timeout' })
  await waitFor('end of the requests', () => gone.includes('/open') || undefined, 5_000)
})

t.test('a call ends with its signal', async (t) => {
  const over = new AbortController()
  let isGone = false
  const url = await standIn(t, (_request, response) => {
    response.once('close', () => (isGone = true))
    over.abort()
  })
  const server = openAs(await writeConfig(t, plainConfig(url)))
  const late = { name: 'Failure', reason: 'Timeout', message: /did not answer in time/ }
  await t.rejects(server({ ...GET, signal: over.signal }), late)
  await t.rejects(server({ ...GET, signal: over.signal }), late)
  const lost = new Failure('Conflict', 'Another attempt has taken over.')
  await t.rejects(server({ ...GET, signal: AbortSignal.abort(lost) }), lost)
  await waitFor('end of the request', () => isGone || undefined, 5_000)
})

t.test('calls that hang at APIs behind the API server take no connection from its own', async (t) => {
  let hanging = 0
  const url = await standIn(t, (request, response) => {
    if (request.url?.startsWith('/apis/things.example.com/') === true) hanging += 1
    else response.end('{}')
  })
  const over = new AbortController()
  const server = openAs(await writeConfig(t, plainConfig(url)))
  const calls = Array.from({ length: 100 }, (_, i) =>
    server({ method: 'GET', path: `/apis/things.example.com/v1/things/${i}`, signal: over.signal }),
  )
  const ends = Promise.allSettled(calls)
  await waitFor('calls that hang', () => hanging >= 64 || undefined, 10_000)
  t.equal((await server(GET)).status, 200)
  t.equal(hanging, 64)
  over.abort()
  await ends
})

t.test('an answer above the size that the caller allows is refused', async (t) => {
  const url = await standIn(t, (_request, response) => response.end(' '.repeat(3 * 1024 * 1024)))
  const server = openAs(await writeConfig(t, plainConfig(url)))
  await t.rejects(server({ ...GET, most: 2 * 1024 * 1024 }), {
    reason: 'NotSupported',
    message: /more than 2 MiB/,
  })
  t.equal((await server(GET)).text.length, 3 * 1024 * 1024)
})

t.test('the own namespace is that of the context', async (t) => {
  const config = plainConfig('http://localhost:8080')
  t.equal(finding(await writeConfig(t, config), ownNamespace), undefined)
  const contexts = [{ name: 'test', context: { cluster: 'test', user: 'test', namespace: 'shop' } }]
  t.equal(finding(await writeConfig(t, { ...config, contexts }), ownNamespace), 'shop')
})

t.test('another kubeconfig and another of its contexts can be chosen', async (t) => {
  const names = { cluster: 'test', user: 'test', namespace: 'team' }
  const contexts = [
    { name: 'test', context: { cluster: 'test', user: 'test' } },
    { name: 'other', context: names },
  ]
  const config = plainConfig('https://127.0.0.1:1')
  const kubeconfig = await writeConfig(t, { ...config, contexts })
  t.equal(ownNamespace({ kubeconfig, context: 'other' }), 'team')
  t.throws(() => ownNamespace({ kubeconfig, context: 'none' }), { message: /^--context is "none", but/ })
  t.throws(() => ownNamespace({ kubeconfig: '/none' }), { message: /^--kubeconfig is "\/none", but/ })
})

t.test('a token that was replaced in its file counts as soon as the old one is refused', async (t) => {
  const seen: unknown[] = []
  const url = await standIn(t, (request, response) => {
    seen.push(`${request.method} ${request.headers.authorization}`)
    response.writeHead(request.headers.authorization === 'Bearer new' ? 200 : 401).end('{}')
  })
  const file = `${t.testdir({ token: 'old' })}/token`
  const login = { 'auth-provider': { name: 'tokenFile', config: { tokenFile: file } } }
  const server = openAs(await writeConfig(t, plainConfig(url, login)))
  t.equal((await server(GET)).status, 401, 'what stays refused is tried once more, and answered')
  await writeFile(file, 'new')
  t.equal((await server({ method: 'POST', path: '/x', body: {} })).status, 200)
  t.equal((await server(GET)).status, 200)
  t.same(seen, ['GET Bearer old', 'GET Bearer old', 'POST Bearer old', 'POST Bearer new', 'GET Bearer new'])
})

t.test('the address of the API server is a host and a port, even without a written port', async (t) => {
  for (const [url, host, port] of [
    ['https://api.example.com:6443/base', 'api.example.com', 6443],
    ['https://10.96.0.1', '10.96.0.1', 443],
    ['http://localhost', 'localhost', 80],
    ['https://[2001:db8::7]:6443', '2001:db8::7', 6443],
  ] as const) {
    t.same(finding(await writeConfig(t, plainConfig(url)), apiServerEndpoint), { host, port })
  }
  const message = 'KUBECONFIG cannot be read, but has to name a kubeconfig file, or be left out in a cluster.'
  t.throws(() => finding('/nowhere/config', apiServerEndpoint), new WrongSetting(message))
})

t.test('without a configuration and outside of a cluster the start ends with a sentence', async (t) => {
  const home = process.env['HOME']
  t.teardown(() => {
    process.env['HOME'] = home
  })
  process.env['HOME'] = t.testdir({ '.kube': {} })
  const message = 'No API server is configured: set KUBECONFIG, or run in a cluster.'
  t.throws(() => finding('', openApiServer), new WrongSetting(message))
  const config = JSON.stringify(plainConfig('http://localhost:8080'))
  await writeFile(`${t.testdirName}/.kube/config`, config)
  t.same(
    finding('', apiServerEndpoint),
    { host: 'localhost', port: 8080 },
    'the file of the home folder counts',
  )
})

t.test('a configuration that names no cluster ends the start with a sentence', async (t) => {
  const file = await writeConfig(t, { apiVersion: 'v1', kind: 'Config' })
  t.throws(
    () => openAs(file),
    new WrongSetting('No API server is configured: set KUBECONFIG, or run in a cluster.'),
  )
})

t.test('a server without TLS ends the start with a sentence, unless that is allowed', async (t) => {
  const clusters = [{ name: 'test', cluster: { server: 'http://127.0.0.1:1' } }]
  const file = await writeConfig(t, { ...plainConfig(''), clusters })
  t.throws(() => openAs(file), {
    message:
      /^The server of the cluster "test" in the kubeconfig begins with http:\/\/, but has to begin with https/,
  })
})

t.test('a configuration that is not there ends the start with a sentence', async (t) => {
  const message = 'KUBECONFIG cannot be read, but has to name a kubeconfig file, or be left out in a cluster.'
  t.throws(() => openAs('/nowhere/config'), new WrongSetting(message))
})

withControlPlane(t, async (t, plane) => {
  t.test('a real API server answers over TLS, whatever it answers', async (t) => {
    const server = openAs(plane.kubeconfig)
    const answer = await server({ method: 'GET', path: '/api/v1/namespaces/default' })
    t.equal(answer.status, 200)
    t.match(JSON.parse(answer.text), { kind: 'Namespace', metadata: { name: 'default' } })
    t.equal((await server({ method: 'GET', path: '/api/v1/namespaces/none' })).status, 404)
  })

  t.test('a certificate that was renewed in its file counts with the next call', async (t) => {
    const [dev, ops] = [
      await userOf(await plane.kubeconfigFor({ name: 'dev' })),
      await userOf(await plane.kubeconfigFor({ name: 'ops' })),
    ]
    const folder = t.testdir({ 'client.crt': dev.certificate, 'client.key': dev.key, 'ca.crt': plane.caPEM })
    const user = { 'client-certificate': `${folder}/client.crt`, 'client-key': `${folder}/client.key` }
    const cluster = { server: plane.url, 'certificate-authority': `${folder}/ca.crt` }
    const config = { ...plainConfig(plane.url, user), clusters: [{ name: 'test', cluster }] }
    const server = openAs(await writeConfig(t, config))
    const nameOf = async (): Promise<unknown> => JSON.parse((await server(WHO_AM_I)).text)
    t.match(await nameOf(), { status: { userInfo: { username: 'dev' } } })
    await writeFile(`${folder}/client.crt`, ops.certificate)
    await writeFile(`${folder}/client.key`, ops.key)
    t.match(await nameOf(), { status: { userInfo: { username: 'ops' } } })
  })

  t.test('nothing is sent to a server whose certificate is not trusted', async (t) => {
    const config = { ...plainConfig(plane.url), clusters: [{ name: 'test', cluster: { server: plane.url } }] }
    const server = openAs(await writeConfig(t, config))
    await t.rejects(server(GET), { name: 'Failure', reason: 'NetworkError' })
  })
})

interface UserFiles {
  readonly certificate: string
  readonly key: string
}

async function userOf(kubeconfig: string): Promise<UserFiles> {
  const config = JSON.parse(await readFile(kubeconfig, 'utf8')) as {
    users: [{ user: Record<'client-certificate-data' | 'client-key-data', string> }]
  }
  const [{ user }] = config.users
  return {
    certificate: Buffer.from(user['client-certificate-data'], 'base64').toString(),
    key: Buffer.from(user['client-key-data'], 'base64').toString(),
  }
}
