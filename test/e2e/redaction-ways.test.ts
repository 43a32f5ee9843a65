import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { startProxy } from '../harness/connect-proxy.ts'
import { readyFor, readyOf } from '../harness/conditions.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import type { ControlPlane } from '../harness/control-plane.ts'
import { startGitServer } from '../harness/git-server.ts'
import { configMap, gitCommit, install } from '../harness/installation.ts'
import { listProcesses, processesIn } from '../harness/processes.ts'
import { startRelay } from '../harness/relay.ts'
import { sample } from '../harness/sample.ts'
import { makeKey } from '../harness/ssh-keys.ts'
import { startSSHServer, withSSHServer } from '../harness/ssh-server.ts'
import type { SSHServer } from '../harness/ssh-server.ts'
import { waitFor } from '../harness/wait.ts'
import { leakFinder, PASSWORD, TOKEN, TOKEN_USER, WRONG } from './distinctive-secrets.ts'
import { contentsBelow } from './redaction-places.ts'
import { DEFAULT_TOKEN, linesOf, PROXY_LOGIN, saidTo, secretOf, WAYS } from './redaction-ways.ts'
import type { Place, WayCase } from './redaction-ways.ts'

const MINUTE = 60_000
const HOOK = 'cat said >&2; exit 1'
const wrongKey = makeKey('-t', 'ed25519')

withSSHServer(t, async (t, ssh) => {
  await withControlPlane(t, (t, plane) => tellNobody(t, plane, ssh))
})

async function tellNobody(t: Test, plane: ControlPlane, ssh: SSHServer): Promise<void> {
  const place = t.testdir({ function: {}, server: { said: '', 'default-token': `${DEFAULT_TOKEN}\n` } })
  const [folder, other] = [join(place, 'function'), join(place, 'server')]
  const keys = [ssh.writer.publicKey]
  const beside = await startSSHServer({ keys, shell: `#!/bin/sh\ncat '${other}/said' >&2\nexit 1\n` })
  t.teardown(() => beside.close())
  const hang = await startSSHServer({ keys, shell: '#!/bin/sh\nexec sleep 60\n' })
  t.teardown(() => hang.close())
  const server = await startGitServer({
    users: [TOKEN, DEFAULT_TOKEN].map((password) => ({ username: TOKEN_USER, password })),
  })
  t.teardown(() => server.close())
  const proxy = await startProxy({ login: 'commitlet:another' })
  t.teardown(() => proxy.close())
  const relay = await startRelay()
  t.teardown(() => relay.close())
  const { username, password } = PROXY_LOGIN
  const commitlet = await install(t, plane, {
    functionEnv: {
      TMPDIR: folder,
      LOG_LEVEL: 'trace',
      ATTEMPT_DEADLINE: '20',
      // Several ways fail at one server.
      FAILED_LOGINS: '1000',
      CA_FILE: server.caFile,
      DEFAULT_GIT_TOKEN_FILE: join(other, 'default-token'),
      DEFAULT_GIT_REPOSITORIES: `localhost:${server.port}`,
      HTTPS_PROXY: `http://${username}:${encodeURIComponent(password)}@127.0.0.1:${proxy.port}`,
      NO_PROXY: 'localhost',
    },
    webhookEnv: { K_SINK: relay.url, LOG_LEVEL: 'trace', SWEEP_INTERVAL: '0', SWEEP_FULL_INTERVAL: '0' },
  })
  relay.targets.push(commitlet.function.url)
  const { privateKey } = ssh.writer
  const leaksIn = leakFinder([
    ...[TOKEN, WRONG, PASSWORD, DEFAULT_TOKEN, password],
    ...[privateKey, privateKey.trim(), ...linesOf(privateKey), ...linesOf(wrongKey.privateKey)],
  ])
  const team = await commitlet.createTeam({ secrets: ['mine'] })
  await team.apply(
    configMap(),
    secretOf({
      'deploy-key': privateKey,
      'wrong-key': wrongKey.privateKey,
      'half-a-key': privateKey.slice(0, 200),
      'host-keys': [ssh, beside, hang].map(({ knownHosts }) => knownHosts).join(''),
      'other-host-keys': `[127.0.0.1]:${ssh.port} ${wrongKey.publicKey}`,
    }),
  )

  const programs = [commitlet.function]

  for (const way of WAYS) endAsSaid(t, way)

  t.test('with the git binary alone', async (t) => {
    await commitlet.function.stop()
    programs.push(await commitlet.startFunction({ GIT_ENGINE: 'binary' }))

    t.test('while a server over SSH is silent, no process and no file holds a secret', async (t) => {
      await begin(wayNamed('ssh-hang'), 'binary-')
      const children = await waitFor(
        'git that waits',
        async () => {
          const seen = await processesIn(folder)
          return seen.some(({ command }) => /\bgit\b.* tunnel\b/.test(command)) ? seen : undefined
        },
        MINUTE,
      )
      const commands = (await listProcesses()).map(({ command }) => command).join('\n')
      t.strictSame(leaksIn(commands), [], 'arguments')
      for (const { pid, command } of children) {
        const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')
        t.strictSame(leaksIn(environment), [], command)
      }
      t.strictSame(leaksIn(await contentsBelow(folder)), [], 'files')
    })

    for (const way of sample(WAYS, ({ name, place }) => (name === 'ssh-hang' ? name : place)))
      endAsSaid(t, way, 'binary-')
  })

  /** `prefix` tells the resources of the second function from those of the first. */
  function endAsSaid(t: Test, way: WayCase, prefix = ''): void {
    const { name, reason, unquoted = false } = way
    t.test(`${name} ends with ${reason}, and without a secret in its status`, async (t) => {
      if (prefix === '' || name !== 'ssh-hang') await begin(way, prefix)
      const stored = await readyFor(team, prefix + name, reason)
      t.strictSame(leaksIn(JSON.stringify(stored)), [])
      t.notMatch(JSON.stringify(stored), /\u001b|u001b/)
      if (!unquoted)
        t.match(readyOf(stored), { message: /reports "I know \*\*\*/ }, 'what the server said is quoted')
    })
  }

  t.test('nothing that both parts wrote, answered or stored holds a secret', async (t) => {
    const environment = await readFile(`/proc/${programs.at(-1)?.pid}/environ`, 'utf8')
    const spoken: Readonly<Record<string, string>> = {
      'log of the functions': programs.flatMap(({ lines }) => lines).join('\n'),
      'log of the webhook': commitlet.webhook.lines.join('\n'),
      'answers of the function': JSON.stringify(relay.answers),
      resources: (await team.kubectl(['get', 'gitcommits', '-o', 'json'])).stdout,
      events: (await team.kubectl(['get', 'events.events.k8s.io', '-o', 'json'])).stdout,
    }
    for (const [where, text] of Object.entries(spoken)) {
      t.not(text, '', where)
      t.strictSame(leaksIn(text), [], where)
    }
    t.strictSame(leaksIn(await contentsBelow(folder)), [], 'files')
    t.match(environment, encodeURIComponent(password), 'what the operator has put there is found')
    t.equal(environment.includes(DEFAULT_TOKEN), false, 'the token of a file is nowhere else')
    t.ok(proxy.heads.length > 0, 'the proxy was asked')
  })

  function wayNamed(name: string): WayCase {
    const way = WAYS.find((candidate) => candidate.name === name)
    if (way === undefined) throw new Error(`There is no case ${name}.`)
    return way
  }

  async function begin(way: WayCase, prefix: string): Promise<void> {
    const { name, place, keys: named, fallback } = way
    const said = saidTo(way, privateKey)
    await writeFile(join(other, 'said'), said)
    const repository = await remoteAt(place).createRepository(`acme/${prefix}${name}`, {
      hooks: { 'pre-receive': HOOK },
    })
    await writeFile(join(repository.path, 'said'), said)
    const address = place === 'proxy' ? repository.url.replace('localhost', '127.0.0.1') : repository.url
    await team.apply(
      gitCommit(prefix + name, address, {
        credentials: named === undefined ? undefined : { secretName: 'mine', ...named },
        ...(fallback === undefined ? {} : { fallbackCredentials: { secretName: 'mine', ...fallback } }),
      }),
    )
  }

  function remoteAt(place: Place) {
    return { https: server, proxy: server, ssh, beside, hang }[place]
  }
}
