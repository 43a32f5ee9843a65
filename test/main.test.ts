import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import { plainConfig, standIn } from './cluster/stage.ts'
import { EVENT } from './event-request.ts'
import { startFunction, WITHOUT_IPV6 } from './harness/programs.ts'
import { sample } from './harness/sample.ts'
import { freePort, waitFor } from './harness/wait.ts'
import { drawnTests } from './harness/drawn-test.ts'

const drawn = drawnTests(t, 3)

/** An API server that refuses every connection: the function starts without one. */
const NOWHERE = JSON.stringify({
  clusters: [{ name: 'none', cluster: { server: 'https://127.0.0.1:1' } }],
  users: [{ name: 'none', user: { token: 'none' } }],
  contexts: [{ name: 'none', context: { cluster: 'none', user: 'none' } }],
  'current-context': 'none',
})

const TYPE = 'dev.commitlet.gitcommit.applied'

/** What `EVENT` is about, with an error that ends the attempt at once; its status is left out. */
const WITHOUT_SPEC = {
  apiVersion: EVENT.apiVersion,
  kind: EVENT.kind,
  metadata: {
    name: EVENT.name,
    namespace: EVENT.namespace,
    uid: EVENT.uid,
    generation: EVENT.generation,
    resourceVersion: '7',
  },
}

const STALLED = 'the event loop stood still'

async function start(t: Test, env: (dir: string) => Readonly<Record<string, string>>) {
  const dir = t.testdir({ kubeconfig: NOWHERE, key: 'k'.repeat(48), short: 's3cret-key' })
  const program = await startFunction({ env: { KUBECONFIG: join(dir, 'kubeconfig'), ...env(dir) } })
  t.teardown(() => program.kill())
  return program
}

function messagesOf(lines: readonly string[]): readonly unknown[] {
  // On a busy machine the program may stand still at any time.
  return lines.map((line): unknown => JSON.parse(line).msg).filter((message) => message !== STALLED)
}

t.test('with a key it starts, listens, and ends with 0 at SIGTERM, all without a warning', async (t) => {
  const program = await start(t, (dir) => ({ STAMP_KEY_FILE: join(dir, 'key') }))
  await program.ready(100_000)
  t.equal(await program.stop(), 0)
  t.strictSame(messagesOf(program.lines), ['listening', 'draining', 'stopped'])
})

t.test('on a kernel without IPv6 it listens at the addresses of IPv4', async (t) => {
  const metrics = await freePort()
  const env = { METRICS_PORT: String(metrics), ...WITHOUT_IPV6 }
  const program = await start(t, (dir) => ({ STAMP_KEY_FILE: join(dir, 'key'), ...env }))
  await program.ready(100_000)
  await program.waitForLine((line) => line.includes('listening'))
  t.equal((await fetch(`http://127.0.0.1:${metrics}/metrics`)).status, 200)
  t.equal(await program.stop(), 0)
})

drawn('a program that stands still says for how long', async (t) => {
  const program = await start(t, (dir) => ({ STAMP_KEY_FILE: join(dir, 'key') }))
  await program.ready(100_000)
  let line: string | undefined
  // Where it has just reported another stall, this one is not measured.
  for (let tries = 0; line === undefined && tries < 5; tries += 1) {
    process.kill(program.pid, 'SIGSTOP')
    await pause(400)
    process.kill(program.pid, 'SIGCONT')
    line = await program
      .waitForLine((text) => text.includes(STALLED) && JSON.parse(text).milliseconds > 300, 5_000)
      .catch(() => undefined)
  }
  if (line === undefined) return t.fail('no stall was reported')
  t.match(JSON.parse(line), { level: 40, part: 'function', milliseconds: Number, inHand: [], count: 0 })
})

drawn('the answer does not wait for the Event of an attempt, and the end of the program does', async (t) => {
  const { promise: event, resolve: arrived } = Promise.withResolvers<() => void>()
  let status: unknown = { observedGeneration: -1, phase: 'Pending' }
  const server = await standIn(t, (request, response) => {
    void text(request).then((sent) => {
      if (request.method === 'PATCH') status = JSON.parse(sent).status
      const answer = (): unknown => response.end(JSON.stringify({ ...WITHOUT_SPEC, status }))
      if (request.url?.endsWith('/events') === true) arrived(answer)
      else answer()
    })
  })
  const kubeconfig = join(t.testdir({ kubeconfig: JSON.stringify(plainConfig(server)) }), 'kubeconfig')
  const program = await startFunction({ env: { KUBECONFIG: kubeconfig } })
  t.teardown(() => program.kill())
  await program.ready(100_000)
  const headers = {
    'content-type': 'application/json',
    'ce-specversion': '1.0',
    'ce-id': '1',
    'ce-source': '/x',
    'ce-type': TYPE,
  }
  const answered = await fetch(program.url, { method: 'POST', headers, body: JSON.stringify(EVENT) })
  t.equal(answered.status, 202)
  const answer = await event
  const stopped = program.stop()
  const isClosed = (): Promise<true | undefined> =>
    fetch(program.url).then(
      () => undefined,
      () => true,
    )
  await waitFor('a server that is closed', isClosed, 30_000)
  const lines = [...program.lines]
  answer()
  t.equal(await stopped, 0)
  t.notMatch(lines.join('\n'), '"stopped"')
})

drawn('a warning at the start names insecure hosts', async (t) => {
  const program = await start(t, () => ({ INSECURE_HOSTS: 'git.example.com:8080' }))
  const line = await program.waitForLine((text) => text.includes('INSECURE_HOSTS is set'), 100_000)
  t.match(JSON.parse(line), { level: 40, part: 'function', msg: / git\.example\.com:8080 / })
})

// config.test.ts has every setting.
const refusals = [
  [
    'a proxy that cannot be used',
    { HTTPS_PROXY: 'socks5://me:s3cret@proxy' },
    /^HTTPS_PROXY has to be .*, but is not\.$/,
  ],
  ['a wildcard of insecure hosts', { INSECURE_HOSTS: '*' }, /^INSECURE_HOSTS has the entry "\*", but .*\.$/],
  [
    'a PATH without the programs that git is run by',
    { PATH: '/nonexistent' },
    /^The program sh is not in a folder of PATH .*\.$/,
  ],
  [
    'a folder that is not there',
    { TMPDIR: '/nowhere' },
    /^TMPDIR is "\/nowhere", but has to be a folder .*\.$/,
  ],
] as const
for (const [title, env, sentence] of sample(refusals, ([, , { source }]) =>
  String(source.startsWith('^The')),
)) {
  drawn(`${title} ends the start with 1 and one sentence`, async (t) => {
    const program = await start(t, () => env)
    await t.rejects(program.ready(100_000), { message: /It ended with 1/ })
    t.equal(program.lines.length, 1)
    t.match(program.lines[0], sentence)
    t.notMatch(program.lines[0], 's3cret')
  })
}

drawn('without a key a line at the start says that requesters are not verified', async (t) => {
  const program = await start(t, () => ({}))
  const line = await program.waitForLine((text) => text.includes('STAMP_KEY_FILE is not set'), 100_000)
  t.match(JSON.parse(line), { level: 40, part: 'function' })
})

drawn('the token of the operator is gone from the environment after the start', async (t) => {
  const token = 'tkn-0f-the-operator'
  const program = await start(t, (dir) => ({
    DEFAULT_GIT_TOKEN: token,
    DEFAULT_GIT_REPOSITORIES: 'git.example.com',
    // A diagnostic report of Node includes the environment of the process.
    NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} --report-on-signal --report-directory=${dir}`,
  }))
  await program.ready(100_000)
  process.kill(program.pid, 'SIGUSR2')
  const read = async (): Promise<string | undefined> => {
    const name = (await readdir(t.testdirName)).find((found) => found.startsWith('report.'))
    const text = name === undefined ? '' : await readFile(join(t.testdirName, name), 'utf8')
    return text.trimEnd().endsWith('}') ? text : undefined
  }
  const report = await waitFor('report', read, 30_000)
  t.match(JSON.parse(report).environmentVariables, { DEFAULT_GIT_REPOSITORIES: 'git.example.com' })
  t.notMatch(report, token)
})

drawn('default credentials that go nowhere end the start, without the token', async (t) => {
  const program = await start(t, () => ({ DEFAULT_GIT_TOKEN: 'tkn-0f-the-operator' }))
  await t.rejects(program.ready(100_000), { message: /It ended with 1/ })
  t.match(program.lines, [/^DEFAULT_GIT_REPOSITORIES is not set, /])
  t.notMatch(program.lines.join(), 'tkn-0f')
})

const keyFiles = [
  ['is too short', (dir: string) => ({ STAMP_KEY_FILE: join(dir, 'short') })],
  ['is not there', () => ({ STAMP_KEY_FILE: '/nowhere/key' })],
] as const
for (const [title, env] of sample(keyFiles, () => 'a key file')) {
  drawn(`a key file that ${title} ends the start with 1 and one sentence`, async (t) => {
    const program = await start(t, env)
    await t.rejects(program.ready(100_000), { message: /It ended with 1/ })
    t.equal(program.lines.length, 1)
    t.match(
      program.lines[0],
      /^STAMP_KEY_FILE is "\S+", but has to be the path of a readable file of 32 bytes or more\.$/,
    )
    t.notMatch(program.lines[0], 's3cret')
  })
}

drawn('with METRICS_PORT it serves its metrics there, and nowhere else', async (t) => {
  const program = await start(t, (dir) => ({ STAMP_KEY_FILE: join(dir, 'key'), METRICS_PORT: '0' }))
  await program.ready(100_000)
  const line = await program.waitForLine((text) => text.includes('metrics are served'))
  const port: unknown = JSON.parse(line).metricsPort
  await fetch(`${program.url}/`, { method: 'POST', body: 'not an event' })
  const text = await (await fetch(`http://127.0.0.1:${String(port)}/metrics`)).text()
  t.match(text, 'commitlet_received_events_total{code="400"} 1')
  t.match(text, /^process_cpu_seconds_total [\d.]+$/m)
  t.match(text, /^commitlet_running\{work="change"\} 0$/m)
  t.equal((await fetch(`${program.url}/metrics`)).status, 404)
  t.equal(await program.stop(), 0)
})
