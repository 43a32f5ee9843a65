import { request } from 'node:https'
import { text } from 'node:stream/consumers'
import t from 'tap'
import type { Test } from 'tap'
import type { ThreadTurns } from '../../webhook/admission/thread-turns.ts'
import { buildApp } from '../../webhook/app.ts'
import { readKeyPair } from '../../webhook/tls.ts'
import { makeAuthority } from '../harness/certificates.ts'
import { waitFor } from '../harness/wait.ts'
import { gitCommit, QUICK, recordingLog, reviewOf, writePair } from './stage.ts'

/** The server with turns that come when a test says so. */
async function start(t: Test) {
  const authority = await makeAuthority()
  const decided: string[] = []
  const waiting: { readonly namespace: string; readonly go: () => void }[] = []
  const inTurn: ThreadTurns = (namespace, signal, work) => {
    const { promise, resolve, reject } = Promise.withResolvers<undefined>()
    waiting.push({ namespace, go: () => resolve(undefined) })
    signal.addEventListener('abort', () => reject(signal.reason))
    return promise.then(work)
  }
  const app = buildApp(
    {
      mutate: async ({ namespace }) => {
        decided.push(namespace)
        return {}
      },
      validate: async () => ({}),
      answered: () => undefined,
      isDraining: () => false,
      inTurn,
      log: recordingLog().log,
    },
    await readKeyPair(await writePair(t.testdir({}), authority)),
    QUICK,
  )
  t.teardown(() => app.close())
  const port = Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port)
  const post = async (body: string) => {
    const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string }>()
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    request({ port, ca: authority.certPEM, method: 'POST', path: '/mutate', headers, agent: false })
      .on('response', (response) => {
        void text(response).then((told) => resolve({ status: response.statusCode ?? 0, body: told }))
      })
      .on('error', reject)
      .end(body)
    return promise
  }
  return { post, decided, waiting }
}

function reviewFrom(namespace: string): string {
  return JSON.stringify(reviewOf(gitCommit({ namespace }), { namespace }))
}

t.test(
  'a review is read in the turn of its namespace, and one that is busy keeps no other waiting',
  async (t) => {
    const { post, decided, waiting } = await start(t)
    const busy = Array.from({ length: 5 }, () => post(reviewFrom('busy')))
    await waitFor('five reviews', () => (waiting.length === 5 ? true : undefined), 10_000)
    const other = post(reviewFrom('shop'))
    await waitFor('another one', () => (waiting.length === 6 ? true : undefined), 10_000)
    t.strictSame(decided, [])
    waiting.find(({ namespace }) => namespace === 'shop')?.go()
    t.equal((await other).status, 200)
    t.strictSame(decided, ['shop'])
    for (const { go } of waiting) go()
    for (const { status } of await Promise.all(busy)) t.equal(status, 200)
  },
)

t.test('what is not JSON waits for a turn as well', async (t) => {
  const { post, waiting } = await start(t)
  const answer = post('['.repeat(100))
  await waitFor('its turn', () => waiting[0], 10_000)
  waiting[0]?.go()
  t.match(await answer, { status: 400, body: /not JSON, or was truncated/ })
  t.equal(waiting[0]?.namespace, '')
})

t.test('a review that names two namespaces takes the turn of none of them for the other', async (t) => {
  const { post, decided, waiting } = await start(t)
  const answer = post(
    reviewFrom('shop').replace('"namespace":"shop"', '"namespace":"busy","namespace":"shop"'),
  )
  await waitFor('its turn', () => waiting[0], 10_000)
  waiting[0]?.go()
  t.match(await answer, { status: 400, body: /has to name its namespace once/ })
  t.strictSame(decided, [])
})

t.test('before its turn only the beginning of a review is read', async (t) => {
  const { post, waiting } = await start(t)
  const before = (bytes: number): string =>
    reviewFrom('shop').replace('"namespace":"shop"', `"x":"${'x'.repeat(bytes)}",$&`)
  const answers = [post(before(10_000)), post(before(20_000))]
  await waitFor('their turns', () => (waiting.length === 2 ? true : undefined), 10_000)
  t.strictSame(waiting.map(({ namespace }) => namespace).toSorted(), ['', 'shop'])
  for (const { go } of waiting) go()
  const [near, far] = await Promise.all(answers)
  t.equal(near?.status, 200)
  t.match(far, { status: 400, body: /has to name its namespace once, and as it is/ })
})

t.test('a namespace that is no name is refused, and not repeated', async (t) => {
  const { post, decided, waiting } = await start(t)
  const answer = post(reviewFrom('n'.repeat(10_000)))
  await waitFor('its turn', () => waiting[0], 10_000)
  t.equal(waiting[0]?.namespace, '')
  waiting[0]?.go()
  const { status, body } = await answer
  t.equal(status, 400)
  t.ok(body.length < 500, body)
  t.strictSame(decided, [])
})

t.test('one whose turn does not come in time is answered with 503', async (t) => {
  const { post, decided } = await start(t)
  t.match(await post(reviewFrom('busy')), {
    status: 503,
    body: /More applies of this namespace are being decided/,
  })
  t.strictSame(decided, [])
})
