import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { withControlPlane } from '../harness/control-plane.ts'
import type { ControlPlane } from '../harness/control-plane.ts'
import { drawnTests } from '../harness/drawn-test.ts'
import { startGitServer } from '../harness/git-server.ts'
import { github } from '../harness/hosts/github.ts'
import { memoryModel } from '../harness/hosts/model.ts'
import { install } from '../harness/installation.ts'
import { startRelay } from '../harness/relay.ts'
import { withSSHServer } from '../harness/ssh-server.ts'
import type { SSHServer } from '../harness/ssh-server.ts'
import {
  EXAMPLES,
  exampleApp,
  exampleUsers,
  filled,
  readExample,
  stageNamespace,
  tokenOf,
  untilGranted,
} from './authentication-stage.ts'
import type { Example } from './authentication-stage.ts'

withSSHServer(t, async (t, ssh) => {
  await withControlPlane(t, (t, plane) => tryExamples(t, plane, ssh))
})

async function tryExamples(t: Test, plane: ControlPlane, ssh: SSHServer): Promise<void> {
  const server = await startGitServer({ users: exampleUsers() })
  t.teardown(() => server.close())
  const relay = await startRelay()
  t.teardown(() => relay.close())
  const knownHosts = join(t.testdir({}), 'known_hosts')
  await writeFile(knownHosts, ssh.knownHosts)
  const host = `localhost:${server.port}`
  const app = exampleApp()
  app.apps.onIssue = ({ token }) => server.admit({ username: 'x-access-token', password: token })
  const byDefault = EXAMPLES.find(({ rights }) => rights === 'default-credentials.yaml')
  const commitlet = await install(t, plane, {
    functionEnv: {
      CA_FILE: server.caFile,
      SSH_KNOWN_HOSTS: knownHosts,
      DEFAULT_GIT_TOKEN: byDefault === undefined ? '' : tokenOf(byDefault),
      DEFAULT_GIT_REPOSITORIES: `${host}/teams/{namespace}`,
    },
    webhookEnv: { K_SINK: relay.url, SWEEP_INTERVAL: '0', SWEEP_FULL_INTERVAL: '0' },
  })
  relay.targets.push(commitlet.function.url)

  // Each is accepted in every run, and each way to log in has tests of its own.
  const drawn = drawnTests(t, 2)
  for (const example of EXAMPLES) {
    t.test(`${example.file} is accepted from a developer as it stands`, async (t) => {
      relay.losing = true
      const { namespace, apply, prepare } = await stageNamespace(plane)
      await grant(namespace, example, prepare)
      const { code, stderr } = await apply(await readExample(example.file))
      t.equal(code, 0, stderr)
      // The webhook has seen that it is no key.
      const warned =
        /^Warning: spec.credentials: The key (?:"\S+"|named by privateKeyKey) of the Secret \S+ does not hold a private key/
      if (/^(?:ssh|github-app)/.test(example.file)) t.match(stderr, warned)
      else t.equal(stderr, '')
    })

    void drawn(`${example.file}, filled in, makes a commit`, async (t) => {
      relay.losing = false
      const { namespace, apply, prepare } = await stageNamespace(plane)
      const places = { namespace, host, ssh, app }
      await grant(namespace, example, (text) => prepare(filled(text, example, places)))
      const text = filled(await readExample(example.file), example, places)
      const [, name = ''] = /repository: [a-z]+:\/\/[^/]+\/(\S+)\.git$/m.exec(text) ?? []
      const repository = await (text.includes('ssh://') ? ssh : server).createRepository(name)
      if (example.file === 'github-app.yaml') installApp(namespace)
      const { code, stderr } = await apply(text)
      t.equal(`${code} ${stderr}`, '0 ')
      const wait = ['wait', 'gitcommit', 'shop-settings', '--for=condition=Ready', '--timeout=30s']
      await plane.kubectl(['-n', namespace, ...wait])
      t.match(await repository.show('main:shop/settings.yaml'), 'currency: EUR')
    })
  }

  function installApp(name: string): void {
    app.apps.installations[0]?.repositories.push(name)
    server.serveAPI(github, { ...memoryModel({ repository: ['acme', name] }), apps: app.apps })
  }

  async function grant(
    namespace: string,
    example: Example,
    apply: (text: string) => Promise<unknown>,
  ): Promise<void> {
    if (example.rights === undefined) return
    await apply(await readExample(example.rights))
    await untilGranted(plane, namespace, example)
  }
}
