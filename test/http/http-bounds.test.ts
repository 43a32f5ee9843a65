import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { Failure } from '../../functions/domain/failure.ts'
import { isTooLarge } from '../../functions/domain/pull-request/large-answer.ts'
import { openHTTP } from '../../functions/http/http.ts'
import { waitFor } from '../harness/wait.ts'
import { call, GET, serve, serveRaw, SETTINGS, urlOf } from './stage.ts'

const NEVER = new AbortController().signal

for (const [title, speak] of [
  ['says nothing', () => undefined],
  ['stops within the headers', (write) => write('HTTP/1.1 200 OK\r\nx-half: ')],
  ['stops within the body', (write) => write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf')],
  [
    'drips for ever',
    (write) => {
      write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
      setInterval(() => write('1\r\n.\r\n'), 5).unref()
    },
  ],
] as const satisfies readonly (readonly [string, (write: (text: string) => void) => void])[]) {
  t.test(`a server that ${title} is left when the call's time is over, or the attempt's`, async (t) => {
    const place = await serveRaw(t, (socket) => {
      socket.once('data', () => speak((text) => !socket.destroyed && socket.write(text)))
    })
    const url = `http://git.example.com:${place.port}/`
    const settings = { insecureHosts: [{ host: 'git.example.com', port: place.port }] }
    const late = {
      reason: 'Timeout',
      message: `git.example.com:${place.port} did not answer in time; Commitlet retries automatically.`,
    }
    t.match(await call(url, { settings, timeoutMs: 100 }), late)
    t.match(await call(url, { settings, signal: AbortSignal.timeout(100) }), late)
    await waitFor('end of the connections', () => place.open.size === 0 || undefined, 5_000)
  })
}

t.test("after the deadline nothing is called, and the signal's own reason is reported", async (t) => {
  const place = await serve(t, (_request, response) => response.end('ok'))
  const stopped = new Failure('Timeout', 'Stopped.')
  t.equal(await call(urlOf(place), { signal: AbortSignal.abort(stopped) }), stopped)
  t.equal(place.connections.length, 0)
})

t.test('a session whose time is over makes no more calls, even on an open connection', async (t) => {
  let asked = 0
  const place = await serve(t, (_request, response) => response.end(String((asked += 1))))
  const time = new AbortController()
  const ended = openHTTP(SETTINGS)(urlOf(place), time.signal, async (fetch) => {
    await fetch(urlOf(place), GET)
    time.abort()
    await fetch(urlOf(place), { ...GET, method: 'POST' })
  })
  t.match(await ended.catch((error: unknown) => error), { reason: 'Timeout' })
  t.equal(asked, 1)
})

t.test(
  'a host that resets the connection right before a request is written ends that call alone',
  async (t) => {
    const host = await serve(t, (_request, response) => response.end('ok'))
    const path = await serveRaw(t, (socket) => {
      const further = connect(host.port, '127.0.0.1').on('error', () => undefined)
      socket
        .on('close', () => further.destroy())
        .pipe(further)
        .pipe(socket)
    })
    const url = urlOf(path)
    const reset = (): boolean => path.connections.at(-1)?.resetAndDestroy() !== undefined
    const ended = await openHTTP(SETTINGS)(url, NEVER, async (fetch) => [
      await fetch(url, { ...GET, mayBegin: reset }).catch((error: unknown) => error),
      await fetch(url, GET),
    ])
    // What Node tells of the connection after its end would be an uncaught exception.
    await nextTurn()
    t.match(ended, [{ reason: 'NetworkError' }, { status: 200 }])
  },
)

t.test('a body that is made in pieces arrives whole, with its length', async (t) => {
  const seen: unknown[] = []
  const place = await serve(t, (request, response) => {
    const received: Buffer[] = []
    request.on('data', (piece: Buffer) => received.push(piece))
    request.on('end', () => {
      seen.push([request.headers['content-length'], Buffer.concat(received).toString()])
      response.end()
    })
  })
  const pieces = ['{"é":', '1', '}'].map((text) => Buffer.from(text))
  const body = { bytes: 8, pieces: () => pieces }
  t.match(await call(urlOf(place), { init: { method: 'POST', headers: {}, body } }), { status: 200 })
  t.strictSame(seen, [['8', '{"é":1}']])
})

t.test('a server that does not read keeps hardly anything of a body that is made in pieces', async (t) => {
  const place = await serve(t, (request) => request.pause())
  const [piece, count] = [Buffer.alloc(64 * 1024), 1_024]
  let made = 0
  const body = {
    bytes: count * piece.length,
    *pieces() {
      for (; made < count; made += 1) yield piece
    },
  }
  const over = new AbortController()
  const ended = call(urlOf(place), { init: { method: 'POST', headers: {}, body }, signal: over.signal })
  await waitFor('the first of it', () => made > 0 || undefined, 5_000)
  let [before, unchanged] = [0, 0]
  await waitFor(
    'an end of what is taken',
    () => {
      unchanged = made === before ? unchanged + 1 : 0
      before = made
      return unchanged > 10 || undefined
    },
    5_000,
  )
  t.ok(made * piece.length < 16 * 1024 * 1024, `${made} pieces were made`)
  over.abort()
  t.match(await ended, { reason: 'Timeout' })
})

t.test('of 100 MiB hardly more than 4 are read, with a content length and without', async (t) => {
  const piece = randomBytes(1024 * 1024)
  for (const headers of [{}, { 'content-length': String(100 * piece.length) }]) {
    let written = 0
    const place = await serve(t, (_request, response) => {
      response.writeHead(200, headers)
      const write = (): void => {
        while (written < 100 && !response.destroyed && response.write(piece)) written += 1
        if (written < 100) response.once('drain', write)
        else response.end()
      }
      write()
    })
    t.match(await call(urlOf(place)), {
      reason: 'ProviderUnavailable',
      message: /answered with more than 4 MiB, the limit of an answer; Commitlet retries/,
    })
    t.ok(written < 24, `${written} MiB were taken from the server`)
  }
})

t.test('pages of lists that strangers fill leave room for other answers', async (t) => {
  const body = randomBytes(3 * 1024 * 1024)
  const place = await serve(t, (request, response) => {
    response.end(request.url === '/api/small' ? body.subarray(0, 1024) : body)
  })
  const url = urlOf(place)
  await openHTTP(SETTINGS)(url, NEVER, async (fetch) => {
    const page = (at: string): Promise<unknown> =>
      fetch(at, { ...GET, isPage: true }).then(({ status }) => status, isTooLarge)
    t.equal(await page(`${url}/small`), 200)
    for (let count = 0; count < 6; count += 1) t.equal(await page(url), true, 'more than 2 MiB')
    const { length } = place.connections
    t.equal(await page(`${url}/small`), true, 'more than 12 MiB')
    t.equal(place.connections.length, length, 'which is not even requested')
    t.equal((await fetch(url, GET)).status, 200)
    const message = /more than 16 MiB in all/
    await t.rejects(fetch(url, GET), { reason: 'ProviderUnavailable', message })
  })
})

t.test('all answers of a session together are limited, and each session has its own limit', async (t) => {
  const body = randomBytes(3 * 1024 * 1024)
  const place = await serve(t, (_request, response) => response.end(body))
  const session = openHTTP(SETTINGS)
  const calls = (many: number): Promise<number> =>
    session(urlOf(place), NEVER, async (fetch) => {
      let read = 0
      for (let count = 0; count < many; count += 1) {
        read += (await (await fetch(urlOf(place), GET)).arrayBuffer()).byteLength
      }
      return read
    })
  t.equal(await calls(5), 5 * body.length)
  await t.rejects(calls(6), {
    reason: 'ProviderUnavailable',
    message: /answered with more than 16 MiB in all, the limit of one attempt; Commitlet retries/,
  })
  t.equal(await calls(5), 5 * body.length)
})
