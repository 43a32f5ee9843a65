import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import type { Test } from 'tap'
import { withControlPlane } from '../harness/control-plane.ts'
import { gitEnvironment } from '../harness/git-backend.ts'
import type { GitServer } from '../harness/git-server.ts'
import { configMap, gitCommit, install, TOKEN } from '../harness/installation.ts'
import type { Stored, Team } from '../harness/installation.ts'
import { startRelay } from '../harness/relay.ts'
import { freePort, waitFor } from '../harness/wait.ts'

const NAMES = Array.from({ length: 20 }, (_, i) => `shop-${String(i + 1).padStart(2, '0')}`)
const run = promisify(execFile)

/** Another user with an ordinary clone, who pushes one commit after the other. */
async function cloneFor(t: Test, server: GitServer, url: string) {
  const folder = await mkdtemp(join(tmpdir(), 'commitlet-clone-'))
  t.teardown(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  const basic = Buffer.from(`commitlet:${TOKEN}`).toString('base64')
  const env = {
    ...gitEnvironment(),
    GIT_SSL_CAINFO: server.caFile,
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: `http.${url}.extraHeader`,
    GIT_CONFIG_VALUE_0: `Authorization: Basic ${basic}`,
  }
  const git = (...args: readonly string[]) => run('git', args, { cwd: folder, env })
  await git('clone', '-q', url, '.')
  return {
    /** Pushes a commit of this file, and retries where another writer was faster; returns its name. */
    async push(file: string): Promise<string> {
      for (;;) {
        await git('fetch', '-q', 'origin', 'main')
        await git('reset', '-q', '--hard', 'origin/main')
        await writeFile(join(folder, file), `${file}\n`)
        await git('add', '--', file)
        await git('commit', '-q', '-m', file)
        const { stdout } = await git('rev-parse', 'HEAD')
        const pushed = await git('push', '-q', 'origin', 'HEAD:main').catch(() => undefined)
        if (pushed !== undefined) return stdout.trim()
      }
    },
  }
}

withControlPlane(t, async (t, plane) => {
  const relay = await startRelay()
  t.teardown(() => relay.close())
  const commitlet = await install(t, plane, {
    webhookEnv: { K_SINK: relay.url, SWEEP_INTERVAL: '1' },
  })
  const second = await commitlet.startFunction({ PORT: String(await freePort()) })
  relay.targets.push(commitlet.function.url, second.url)

  t.test('two functions, 20 resources and a foreign writer at one branch: nothing is lost', async (t) => {
    const team = await commitlet.createTeam()
    const repository = await commitlet.git.createRepository(`${team.namespace}/config`)
    const clone = await cloneFor(t, commitlet.git, repository.url)
    const resources = NAMES.map((name) =>
      gitCommit(name, repository.url, {
        message: name,
        branch: 'main',
        resourceRef: { apiVersion: 'v1', kind: 'ConfigMap', name: 'shop', path: `shops/${name}.yaml` },
      }),
    )
    await team.apply(configMap())
    const applied = team.apply(...resources)
    const foreign = [await clone.push('one'), await clone.push('two'), await clone.push('three')]
    await applied
    await team.kubectl([
      'wait',
      'gitcommits',
      ...NAMES,
      '--for=jsonpath={.status.phase}=Succeeded',
      '--timeout=120s',
    ])

    for (const { metadata, status } of await listOf(team)) {
      const log = await repository.git(
        'log',
        '--all',
        '--format=%H %s',
        `--grep=Commitlet-Id: ${metadata.uid}`,
      )
      const { sha } = status['commit'] as { readonly sha: string }
      t.equal(log, `${sha} ${metadata.name}`, `${metadata.name} has one commit`)
    }
    const subjects = await repository.log('main')
    t.strictSame(subjects.toSorted(), [...NAMES, 'Begin', 'one', 'three', 'two'].toSorted())
    for (const commit of foreign) await repository.git('merge-base', '--is-ancestor', commit, 'main')
    const files = (await repository.git('ls-tree', '-r', '--name-only', 'main')).split('\n')
    t.strictSame(
      files.toSorted(),
      [...NAMES.map((name) => `shops/${name}.yaml`), 'README.md', 'one', 'three', 'two'].toSorted(),
    )
    t.strictSame(
      [...new Set(relay.answers.map(({ target }) => target))].toSorted(),
      [commitlet.function.url, second.url].toSorted(),
      'both functions were at work',
    )
    // Both have committed. A line of the log may be read after the status.
    for (const program of [commitlet.function, second])
      await program.waitForLine((line) => line.includes('attempt succeeded'))
  })

  t.test('two functions that get the event of a resource at once make one attempt', async (t) => {
    const team = await commitlet.createTeam()
    const repository = await commitlet.git.createRepository(`${team.namespace}/config`)
    relay.losing = true
    await team.apply(configMap(), ...NAMES.map((name) => gitCommit(name, repository.url)))
    relay.losing = false
    const items = await listOf(team)
    const answers = await Promise.all(
      items.flatMap(({ metadata }) => [commitlet.function, second].map(({ url }) => announce(url, metadata))),
    )
    t.strictSame([...new Set(answers.map(({ status }) => status))], [202])
    await team.kubectl(['wait', 'gitcommits', ...NAMES, '--for=condition=Ready', '--timeout=120s'])
    for (const { metadata } of items) {
      const attempts = (): number =>
        [commitlet.function, second].flatMap(({ lines }) =>
          lines.filter((line) => line.includes(`"uid":"${metadata.uid}"`)),
        ).length
      await waitFor('the attempt in the log', () => attempts() > 0 || undefined, 30_000)
      t.equal(attempts(), 1, `${metadata.name} was attempted once`)
    }
    t.strictSame(await repository.log('main'), ['Record the shop settings', 'Begin'])
  })
})

async function listOf(team: Team): Promise<readonly Stored[]> {
  const { stdout } = await team.kubectl(['get', 'gitcommits', '-o', 'json'])
  const { items } = JSON.parse(stdout) as { readonly items: readonly Stored[] }
  return items
}

/** Sends the event that the webhook would send, in binary mode. */
function announce(url: string, metadata: Stored['metadata']): Promise<Response> {
  const { namespace, name, uid, generation } = metadata
  return fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'ce-specversion': '1.0',
      'ce-id': '1',
      'ce-source': 'test',
      'ce-type': 'dev.commitlet.gitcommit.applied',
    },
    body: JSON.stringify({
      apiVersion: 'commitlet.dev/v1',
      kind: 'GitCommit',
      namespace,
      name,
      uid,
      generation,
    }),
  })
}
