import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { readyFor, readyOf } from '../harness/conditions.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import { startGitServer } from '../harness/git-server.ts'
import { configMap, gitCommit, install } from '../harness/installation.ts'
import type { Stored, Team } from '../harness/installation.ts'
import { listProcesses, processesIn } from '../harness/processes.ts'
import { startRelay } from '../harness/relay.ts'
import { sample } from '../harness/sample.ts'
import { waitFor } from '../harness/wait.ts'
import { call, reviewOf } from '../webhook/stage.ts'
import { gossip, IN_ADDRESS, leaksIn, PASSWORD, TOKEN, TOKEN_USER } from './distinctive-secrets.ts'
import { BY_PASSWORD, CASES, secrets, type RedactionCase } from './redaction-cases.ts'
import { contentsBelow } from './redaction-places.ts'

const MINUTE = 60_000

withControlPlane(t, async (t, plane) => {
  const folder = t.testdir({})
  const relay = await startRelay()
  t.teardown(() => relay.close())
  const commitlet = await install(t, plane, {
    functionEnv: { TMPDIR: folder, LOG_LEVEL: 'trace', ATTEMPT_DEADLINE: '20' },
    webhookEnv: { K_SINK: relay.url, LOG_LEVEL: 'trace', SWEEP_INTERVAL: '1', SWEEP_FULL_INTERVAL: '2' },
  })
  relay.targets.push(commitlet.function.url)
  const server = await startGitServer({
    authority: commitlet.git.authority,
    users: [{ password: TOKEN }, { username: 'dev', password: PASSWORD }],
  })
  t.teardown(() => server.close())
  const team = await commitlet.createTeam({ secrets: ['mine', 'other', 'bound'] })
  await team.apply(configMap(), ...secrets())

  const programs = [commitlet.function]

  t.test('while a push hangs, no argument and no file holds a secret', async (t) => {
    await begin('hang')
    await hanging('hang')
    t.strictSame(await processesIn(folder), [], 'there is no process besides')
    t.strictSame(leaksIn(await commandsOfAll()), [])
    t.strictSame(leaksIn(await contentsBelow(folder)), [])
  })

  for (const one of drawn('direct')) endAsSaid(t, one)

  t.test('with the git binary alone', async (t) => {
    await commitlet.function.stop()
    programs.push(await commitlet.startFunction({ GIT_ENGINE: 'binary' }))

    t.test('while a push hangs, no argument and no file holds a secret', async (t) => {
      await begin('hang', 'binary-')
      await hanging('binary-hang')
      const commands = await commandsOfAll()
      t.match(commands, /git push .*hang\.git/)
      t.strictSame(leaksIn(commands), [])
      const files = await contentsBelow(folder)
      t.match(files, /\[core\]/, 'the files of the workspace are seen')
      t.strictSame(leaksIn(files), [])
      const [git] = (await processesIn(folder)).filter(({ command }) => command.startsWith('git push'))
      const environment = await readFile(`/proc/${git?.pid}/environ`, 'utf8')
      t.ok(leaksIn(environment).length > 0, 'a secret that is there is found')
    })

    for (const one of drawn('git binary')) endAsSaid(t, one, 'binary-')
  })

  function drawn(engine: string): readonly RedactionCase[] {
    return sample(CASES, ({ name, reason }) => `${engine} ${name === 'hang' ? name : reason}`)
  }

  /** `prefix` tells the resources of the second function from those of the first. */
  function endAsSaid(t: Test, { name, reason }: RedactionCase, prefix = ''): void {
    t.test(`${name} ends with ${reason}, and without a secret in its status`, async (t) => {
      if (name !== 'hang') await begin(name, prefix)
      const stored = await readyFor(team, prefix + name, reason)
      t.strictSame(leaksIn(JSON.stringify(stored)), [])
      t.notMatch(JSON.stringify(stored), /\u001b|u001b/)
      if (reason === 'PushRejected')
        t.match(readyOf(stored), { message: /reports "I know \*\*\*/ }, 'what the hook said is quoted')
    })
  }

  t.test('an address with a token in it is refused without repeating it', async (t) => {
    const address = `https://dev:${IN_ADDRESS}@localhost:${server.port}/acme/config.git`
    const input = JSON.stringify(gitCommit('in-address', address))
    const { stderr, code } = await team.kubectl(['create', '-f', '-'], { input, allowFailure: true })
    t.equal(code, 1)
    t.match(stderr, 'spec.repository')
    t.strictSame(leaksIn(stderr), [])
  })

  t.test('nothing that both parts wrote, answered or stored holds a secret', async (t) => {
    const spoken: Record<string, string> = {
      'log of the functions': programs.flatMap(({ lines }) => lines).join('\n'),
      'log of the webhook': commitlet.webhook.lines.join('\n'),
      'answers of the function': JSON.stringify(relay.answers),
      'answers of the webhook': await reviews(team, {
        port: commitlet.webhook.port,
        ca: server.authority.certPEM,
      }),
      resources: (await team.kubectl(['get', 'gitcommits', '-o', 'json'])).stdout,
      'resources as YAML': (await team.kubectl(['get', 'gitcommits', '-o', 'yaml'])).stdout,
      events: (await team.kubectl(['get', 'events.events.k8s.io', '-o', 'json'])).stdout,
      descriptions: (await team.kubectl(['describe', 'gitcommits'])).stdout,
    }
    for (const [where, text] of Object.entries(spoken)) {
      t.ok(text.length > 100, `${where}: there is something to look at`)
      t.strictSame(leaksIn(text), [], where)
      t.notMatch(text, /\u001b|\\e\[|u001b/, where)
    }
    t.strictSame(leaksIn(await contentsBelow(folder)), [], 'files')
    const { stdout } = await team.kubectl(['get', 'secret', 'mine', '-o', 'json'])
    t.ok(leaksIn(stdout).length > 0, 'a secret that is there is found')
  })

  t.test('at its end the function leaves no file', async (t) => {
    t.equal(await programs.at(-1)?.stop(MINUTE), 0)
    t.strictSame(await readdir(folder), [])
  })

  async function begin(name: string, prefix = ''): Promise<void> {
    const found = CASES.find((candidate) => candidate.name === name)
    const repository = await server.createRepository(`acme/${prefix}${name}`, {
      hooks: found?.hook === undefined ? {} : { 'pre-receive': found.hook },
    })
    const said = found?.credentials === BY_PASSWORD ? gossip('dev', PASSWORD) : gossip(TOKEN_USER, TOKEN)
    await writeFile(join(repository.path, 'said'), said)
    if (found?.fault !== undefined)
      server.faults.add(found.fault, { repository: repository.name, ...found.at })
    const credentials = found?.credentials ?? { secretName: 'mine', tokenKey: 'token' }
    await team.apply(gitCommit(prefix + name, repository.url, { credentials }))
  }

  async function hanging(name: string): Promise<void> {
    await waitFor(
      'push that hangs',
      () =>
        server.requests.find(
          ({ repository, exchange, status }) =>
            repository === `acme/${name}` && exchange === 'receive-pack' && status === undefined,
        ),
      MINUTE,
    )
  }
})

async function commandsOfAll(): Promise<string> {
  return (await listProcesses()).map(({ command }) => command).join('\n')
}

/** Answers of the webhook to reviews of every resource of the team. */
async function reviews(team: Team, webhook: Parameters<typeof call>[0]): Promise<string> {
  const { stdout } = await team.kubectl(['get', 'gitcommits', '-o', 'json'])
  const { items } = JSON.parse(stdout) as { readonly items: readonly Stored[] }
  const target = { ...webhook, servername: 'localhost' }
  const answers = items.flatMap((item) =>
    ['/mutate', '/validate'].map((path) => call(target, path, JSON.stringify(reviewOf(item)))),
  )
  return JSON.stringify(await Promise.all(answers))
}
