import { gzipSync } from 'node:zlib'
import t from 'tap'
import { call, callRaw, servePlainly } from './stage.ts'

t.test('bytes and headers are returned as they are, without a content type that was not sent', async (t) => {
  const bytes = Buffer.from([0xef, 0xbb, 0xbf, 0x7b, 0x7d, 0xff])
  const head =
    'HTTP/1.1 200 OK\r\nX-Two: a\r\nx-two: b\r\nset-cookie: a=1\r\nset-cookie: b=2\r\nx-name: J\xf6rg \xe6\r\n\r\n'
  const answer = await callRaw(t, Buffer.concat([Buffer.from(head, 'latin1'), bytes]))
  if (!(answer instanceof Response)) throw answer
  t.equal(answer.headers.get('x-two'), 'a, b')
  t.same(answer.headers.getSetCookie(), ['a=1', 'b=2'])
  t.equal(answer.headers.get('x-name'), 'J\xf6rg \xe6')
  t.equal(answer.headers.get('content-type'), null)
  t.same(Buffer.from(await answer.arrayBuffer()), bytes)
})

for (const status of [200, 204, 205, 304, 404, 503, 599]) {
  t.test(`an answer with ${status} is accepted`, async (t) => {
    const body = [204, 304].includes(status) ? '' : 'content-length: 2\r\n\r\nno'
    const answer = await callRaw(t, `HTTP/1.1 ${status} x\r\n${body === '' ? '\r\n' : body}`)
    if (!(answer instanceof Response)) throw answer
    t.equal(answer.status, status)
    t.equal(await answer.text(), [204, 205, 304].includes(status) ? '' : 'no')
  })
}

t.test('informational answers are not the answer', async (t) => {
  const hints = 'HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n'
  t.match(await callRaw(t, `${hints}HTTP/1.1 201 Created\r\ncontent-length: 0\r\n\r\n`), { status: 201 })
})

const UNUSABLE = [
  [
    'a status that HTTP does not have',
    'HTTP/1.1 999 x\r\ncontent-length: 0\r\n\r\n',
    /with the status 999, which HTTP does not have/,
  ],
  [
    'more than 256 header fields',
    `HTTP/1.1 200 OK\r\n${'x: \r\n'.repeat(257)}content-length: 0\r\n\r\n`,
    /with more than 256 header fields/,
  ],
  ['600', 'HTTP/1.1 600 x\r\ncontent-length: 0\r\n\r\n', /with the status 600/],
  ['no HTTP', 'SSH-2.0-OpenSSH_9.2\r\n', /with something that is not HTTP/],
  ['a header without a name', 'HTTP/1.1 200 OK\r\n: x\r\n\r\n', /with something that is not HTTP/],
  ['a zero byte in a header', 'HTTP/1.1 200 OK\r\nx: a\0b\r\n\r\n', /with something that is not HTTP/],
  [
    'a broken piece',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nxyz\r\n',
    /with something that is not HTTP/,
  ],
  [
    'headers of a megabyte',
    `HTTP/1.1 200 OK\r\nx: ${'a'.repeat(1024 * 1024)}\r\n\r\n`,
    /with more headers than the limit/,
  ],
  [
    '100,000 headers',
    `HTTP/1.1 200 OK\r\n${'x: a\r\n'.repeat(100_000)}\r\n`,
    /with more headers than the limit/,
  ],
] as const

for (const [title, bytes, message] of UNUSABLE) {
  t.test(`an answer that cannot be used (${title}) is ProviderUnavailable`, async (t) => {
    t.match(await callRaw(t, bytes), { reason: 'ProviderUnavailable', retry: 'transient', message })
  })
}

for (const [title, bytes] of [
  ['nothing', ''],
  ['half of the headers', 'HTTP/1.1 200 OK\r\nx-half: '],
  ['half of the body', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf'],
  ['two lengths that differ', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab'],
  ['a body without its last piece', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n'],
  [
    'a change of the protocol',
    'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
  ],
] as const) {
  t.test(`a connection that ends after ${title} counts as broken`, async (t) => {
    t.match(await callRaw(t, bytes), {
      reason: 'NetworkError',
      message:
        /^git\.example\.com:\d+ closed the connection in the middle of the exchange; Commitlet retries automatically\.$/,
    })
  })
}

t.test('a compressed body is refused, and not unpacked', async (t) => {
  const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024))
  t.ok(bomb.length < 100_000)
  const place = await servePlainly(t, (_request, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip', 'content-type': 'application/json' }).end(bomb)
  })
  const settings = { insecureHosts: [{ host: 'git.example.com', port: place.port }] }
  t.match(await call(`http://git.example.com:${place.port}/`, { settings }), {
    reason: 'ProviderUnavailable',
    message: /with a compressed body, which was not requested/,
  })
  const identity = 'HTTP/1.1 200 OK\r\ncontent-encoding: Identity\r\ncontent-length: 2\r\n\r\nok'
  t.match(await callRaw(t, identity), { status: 200 })
})

t.test('what comes after the answer on the same connection is ignored', async (t) => {
  const spare =
    'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nokHTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nbad'
  const answer = await callRaw(t, spare)
  t.equal(answer instanceof Response && (await answer.text()), 'ok')
})
