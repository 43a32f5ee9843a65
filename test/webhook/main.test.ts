import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { makeAuthority } from '../harness/certificates.ts'
import { startWebhook } from '../harness/programs.ts'
import { waitFor } from '../harness/wait.ts'
import { call, gitCommit, reviewOf, startSink, writePair } from './stage.ts'

/** An API server that is not there: enough to start, and for what needs no cluster. */
const KUBECONFIG = `
apiVersion: v1
kind: Config
clusters: [{ name: none, cluster: { server: "http://127.0.0.1:9" } }]
contexts: [{ name: none, context: { cluster: none, user: none } }]
users: [{ name: none, user: {} }]
current-context: none
`

async function start(t: Test, env: Readonly<Record<string, string>> = {}) {
  const dir = t.testdir({ kubeconfig: KUBECONFIG })
  const authority = await makeAuthority()
  const tls = await writePair(dir, authority)
  const program = await startWebhook({
    env: {
      KUBECONFIG: join(dir, 'kubeconfig'),
      TLS_CERT_FILE: tls.certFile,
      TLS_KEY_FILE: tls.keyFile,
      ...env,
    },
  })
  t.teardown(() => program.kill())
  return { program, target: { port: program.port, ca: authority.certPEM }, tls }
}

t.test('it starts, denies what it cannot decide, and ends with 0 at SIGTERM', async (t) => {
  const sink = await startSink()
  t.teardown(() => sink.close())
  const { program, target } = await start(t, { K_SINK: sink.url.href })
  await program.ready(100_000)
  const { status, body } = await call(target, '/validate', JSON.stringify(reviewOf(gitCommit())))
  t.equal(status, 200)
  t.match(body.response, { allowed: false, status: { code: 503, message: /try again/ } })
  t.equal(await program.stop(), 0)
  // Other lines may come between: a sweep in flight tells of the API server that is not there.
  const ORDER = ['listening', 'draining', 'stopped']
  t.same(
    program.lines.map((line) => JSON.parse(line).msg).filter((msg) => ORDER.includes(msg)),
    ORDER,
  )
})

t.test('a pull request needs no cluster: its event is delivered before the end', async (t) => {
  const sink = await startSink()
  t.teardown(() => sink.close())
  const { program, target } = await start(t, { K_SINK: sink.url.href, SWEEP_FULL_INTERVAL: '0' })
  await program.ready(100_000)
  const spec = {
    repository: 'https://github.com/acme/shop.git',
    baseBranch: 'main',
    headBranch: 'settings',
    title: 'New settings',
    credentials: { secretName: 'git', tokenKey: 'token' },
  }
  const kind = { group: 'commitlet.dev', version: 'v1', kind: 'PullRequest' }
  const review = reviewOf({ ...gitCommit(), kind: 'PullRequest', spec }, { kind })
  const held = Promise.withResolvers<undefined>()
  sink.answer = (response) => void held.promise.then(() => response.writeHead(202).end())
  const { body } = await call(target, '/validate', JSON.stringify(review))
  t.match(body.response, { allowed: true })
  await waitFor('event', () => sink.received[0], 5_000)
  const stopped = program.stop()
  await program.waitForLine((line) => line.includes('draining'))
  held.resolve(undefined)
  t.equal(await stopped, 0)
  t.match(sink.received, [{ data: { kind: 'PullRequest', name: 'settings' } }])
  t.notMatch(program.lines.join('\n'), /left behind|not delivered/)
})

for (const [title, env, message] of [
  ['a wrong setting', { SWEEP_INTERVAL: 'often' }, /^SWEEP_INTERVAL is "often".*\.$/],
  [
    'a missing certificate',
    { TLS_CERT_FILE: '/nowhere/tls.crt' },
    /^The file \/nowhere\/tls.crt, named by TLS_CERT_FILE, .* cannot be read.*\.$/,
  ],
] as const) {
  t.test(`${title} ends the start with 1 and one sentence`, async (t) => {
    const { program } = await start(t, env)
    await t.rejects(program.ready(100_000), { message: /It ended with 1/ })
    t.match(program.lines, [message])
    t.equal(program.lines.length, 1)
  })
}
