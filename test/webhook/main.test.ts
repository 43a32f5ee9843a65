import { createServer } from 'node:http'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import { makeAuthority } from '../harness/certificates.ts'
import { startWebhook, WITHOUT_IPV6 } from '../harness/programs.ts'
import { waitFor } from '../harness/wait.ts'
import { call, gitCommit, reviewOf, startSink, writePair } from './stage.ts'
import { drawnTests } from '../harness/drawn-test.ts'

const drawn = drawnTests(t, 3)

const STALLED = 'the event loop stood still'

/** An API server that is not there: enough to start. */
const NOWHERE = 'http://127.0.0.1:9'

function kubeconfig(server: string): string {
  return `
apiVersion: v1
kind: Config
clusters: [{ name: none, cluster: { server: "${server}", insecure-skip-tls-verify: true } }]
contexts: [{ name: none, context: { cluster: none, user: none } }]
users: [{ name: none, user: {} }]
current-context: none
`
}

/** An API server that allows everything and has nothing, and answers once `gate` lets it. */
async function startApiServer(
  t: Test,
  gate: () => Promise<unknown> = () => Promise.resolve(),
): Promise<string> {
  const server = createServer((request, response) => {
    const asked = request.method === 'POST' && request.url?.endsWith('/subjectaccessreviews')
    void gate().then(() => {
      response.writeHead(asked ? 201 : 404, { 'content-type': 'application/json' })
      response.end(JSON.stringify(asked ? { status: { allowed: true } } : { kind: 'Status', code: 404 }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : address}`
}

async function start(t: Test, env: Readonly<Record<string, string>> = {}, server = NOWHERE) {
  const dir = t.testdir({ kubeconfig: kubeconfig(server), key: 'k'.repeat(48) })
  const authority = await makeAuthority()
  const tls = await writePair(dir, authority)
  const program = await startWebhook({
    env: {
      KUBECONFIG: join(dir, 'kubeconfig'),
      TLS_CERT_FILE: tls.certFile,
      TLS_KEY_FILE: tls.keyFile,
      STAMP_KEY_FILE: join(dir, 'key'),
      ...env,
    },
  })
  t.teardown(() => program.kill())
  return { program, target: { port: program.port, ca: authority.certPEM }, tls }
}

t.test('it starts, denies what it cannot decide, and ends with 0 at SIGTERM', async (t) => {
  const sink = await startSink()
  t.teardown(() => sink.close())
  // A sweep in flight would log the missing API server between the last two lines.
  const env = { K_SINK: sink.url.href, SWEEP_INTERVAL: '0', SWEEP_FULL_INTERVAL: '0' }
  const { program, target } = await start(t, env)
  await program.ready(100_000)
  const { status, body } = await call(target, '/validate', JSON.stringify(reviewOf(gitCommit())))
  t.equal(status, 200)
  t.match(body.response, { allowed: false, status: { code: 503, message: /try again/ } })
  t.equal(await program.stop(), 0)
  const messages = program.lines.map((line) => JSON.parse(line).msg).filter((message) => message !== STALLED)
  t.equal(messages[0], 'listening')
  t.strictSame(messages.slice(-2), ['draining', 'stopped'])
})

t.test('on a kernel without IPv6 it listens at the addresses of IPv4', async (t) => {
  const { program } = await start(t, WITHOUT_IPV6)
  await program.ready(100_000)
  t.equal(await program.stop(), 0)
})

drawn('a webhook that stands still says for how long, and what it was deciding', async (t) => {
  const [asked, answered] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()]
  const server = await startApiServer(t, () => {
    asked.resolve(undefined)
    return answered.promise
  })
  const { program, target } = await start(t, {}, server)
  await program.ready(100_000)
  const review = call(target, '/mutate', JSON.stringify(reviewOf(gitCommit())))
  await asked.promise
  process.kill(program.pid, 'SIGSTOP')
  await pause(400)
  process.kill(program.pid, 'SIGCONT')
  const line = await program.waitForLine((text) => text.includes(STALLED) && text.includes('shop/settings'))
  answered.resolve(undefined)
  await review
  t.match(JSON.parse(line), {
    level: 40,
    part: 'webhook',
    milliseconds: Number,
    inHand: ['CREATE GitCommit shop/settings'],
    count: 1,
  })
})

drawn('an admitted pull request is stamped, and its event is delivered before the end', async (t) => {
  const sink = await startSink()
  t.teardown(() => sink.close())
  const env = { K_SINK: sink.url.href, SWEEP_INTERVAL: '0', SWEEP_FULL_INTERVAL: '0' }
  const { program, target } = await start(t, env, await startApiServer(t))
  await program.ready(100_000)
  const spec = {
    repository: 'https://github.com/acme/shop.git',
    baseBranch: 'main',
    headBranch: 'settings',
    title: 'New settings',
    credentials: { secretName: 'git', tokenKey: 'token' },
  }
  const kind = { group: 'commitlet.dev', version: 'v1', kind: 'PullRequest' }
  const sent = { ...gitCommit(), kind: 'PullRequest', spec }
  const review = (object: unknown) => JSON.stringify(reviewOf(object, { kind }))
  const mutated = await call(target, '/mutate', review(sent))
  const [{ value: annotations }] = JSON.parse(Buffer.from(mutated.body.response.patch, 'base64').toString())
  t.match(annotations['commitlet.dev/requester-signature'], /^[0-9a-f]{64}$/)
  const held = Promise.withResolvers<undefined>()
  sink.answer = (response) => void held.promise.then(() => response.writeHead(202).end())
  const final = { ...sent, metadata: { ...sent.metadata, annotations } }
  const { body } = await call(target, '/validate', review(final))
  t.match(body.response, { allowed: true, warnings: [/^spec\.credentials: .*Secret shop\/git/] })
  await waitFor('event', () => sink.received[0], 5_000)
  const stopped = program.stop()
  await program.waitForLine((line) => line.includes('draining'))
  held.resolve(undefined)
  t.equal(await stopped, 0)
  t.match(sink.received, [{ data: { kind: 'PullRequest', name: 'settings' } }])
  t.notMatch(program.lines.join('\n'), /not sent before|not delivered|STAMP_KEY_FILE/)
})

drawn('without a key a line at the start says that nothing is signed', async (t) => {
  const { program } = await start(t, { STAMP_KEY_FILE: '', INSECURE_HOSTS: 'git.example.com' })
  await program.waitForLine((line) => /"level":40.*STAMP_KEY_FILE is not set/.test(line), 100_000)
  await program.waitForLine((line) => /"level":40.*INSECURE_HOSTS is set: .* git\.example\.com /.test(line))
})

for (const [title, env, message] of [
  ['a wrong setting', { SWEEP_INTERVAL: 'often' }, /^SWEEP_INTERVAL is "often".*\.$/],
  [
    'a key file that is not there',
    { STAMP_KEY_FILE: '/nowhere/key' },
    /^STAMP_KEY_FILE is "\/nowhere\/key", but has to be the path of a readable file of 32 bytes or more\.$/,
  ],
  [
    'a missing certificate',
    { TLS_CERT_FILE: '/nowhere/tls.crt' },
    /^The file \/nowhere\/tls.crt, named by TLS_CERT_FILE, .* cannot be read.*\.$/,
  ],
] as const) {
  drawn(`${title} ends the start with 1 and one sentence`, async (t) => {
    const { program } = await start(t, env)
    await t.rejects(program.ready(100_000), { message: /It ended with 1/ })
    t.match(program.lines, [message])
    t.equal(program.lines.length, 1)
  })
}
