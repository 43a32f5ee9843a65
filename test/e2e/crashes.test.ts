import t from 'tap'
import { withControlPlane } from '../harness/control-plane.ts'
import type { GitRepository } from '../harness/git-repository.ts'
import { configMap, gitCommit, install } from '../harness/installation.ts'
import type { Stored } from '../harness/installation.ts'
import { listProcesses, processesIn } from '../harness/processes.ts'
import { waitFor } from '../harness/wait.ts'

const SWEEP_INTERVAL = 3
const PATH = 'shop/settings.yaml'
const MINUTE = 60_000

/** Names of the commits that carry an id of this resource, whatever its generation. */
async function commitsOf(repository: GitRepository, { metadata }: Stored): Promise<readonly string[]> {
  const names = await repository.git('log', '--all', '--format=%H', `--grep=^Commitlet-Id: ${metadata.uid}.`)
  return names.split('\n').filter((name) => name !== '')
}

withControlPlane(t, async (t, plane) => {
  const folder = t.testdir({})
  const commitlet = await install(t, plane, {
    functionEnv: { TMPDIR: folder },
    webhookEnv: { SWEEP_INTERVAL: String(SWEEP_INTERVAL) },
  })
  const { git } = commitlet

  /** A repository whose requests of this kind wait until they are released. */
  async function holdingRepository(
    name: string,
    when: 'before' | 'after',
    exchange: 'receive-pack' | 'upload-pack',
  ) {
    const repository = await git.createRepository(name, { files: { [PATH]: 'old\n' } })
    const { promise: until, resolve } = Promise.withResolvers<undefined>()
    const unstrike = git.faults.add({ kind: 'hold', when, until }, { repository: name, exchange })
    function letGo(): void {
      unstrike()
      resolve(undefined)
    }
    t.teardown(letGo)
    return {
      repository,
      letGo,
      reached: () =>
        waitFor(
          `${exchange} to ${name}`,
          () => git.requests.find((seen) => seen.repository === name && seen.exchange === exchange),
          MINUTE,
        ),
    }
  }

  t.test('a resource deleted in mid-attempt ends the attempt silently', async (t) => {
    const team = await commitlet.createTeam()
    const held = await holdingRepository(`${team.namespace}/deleted`, 'before', 'receive-pack')
    await team.apply(configMap(), gitCommit('shop', held.repository.url))
    await held.reached()
    const { metadata } = await team.get('shop')
    await team.kubectl(['delete', 'gitcommit', 'shop'])
    held.letGo()
    const line = await commitlet.function.waitForLine((seen) => seen.includes(`"uid":"${metadata.uid}"`))
    t.match(JSON.parse(line), { phase: 'overtaken', reason: 'Succeeded' })
    const { stderr } = await team.kubectl(['get', 'gitcommit', 'shop'], { allowFailure: true })
    t.match(stderr, 'NotFound')
  })

  t.test(
    'a resource replaced by one of the same name in mid-attempt: the status of the new one is untouched',
    async (t) => {
      const team = await commitlet.createTeam()
      const old = await holdingRepository(`${team.namespace}/old`, 'before', 'receive-pack')
      const young = await holdingRepository(`${team.namespace}/young`, 'before', 'receive-pack')
      await team.apply(configMap(), gitCommit('shop', old.repository.url))
      await old.reached()
      const before = await team.get('shop')
      await team.kubectl(['delete', 'gitcommit', 'shop'])
      await team.apply(gitCommit('shop', young.repository.url))
      await young.reached()
      const claimed = await team.get('shop')
      t.match(claimed.status, { phase: 'Progressing', attempts: 1, observedGeneration: 1 })
      old.letGo()
      await commitlet.function.waitForLine((seen) => seen.includes(`"uid":"${before.metadata.uid}"`))
      t.same(await team.get('shop'), claimed, 'nothing was written')
      young.letGo()
      await team.waitFor('shop', 'condition=Ready', '60s')
      const after = await team.get('shop')
      t.strictSame(await commitsOf(young.repository, after), [
        await young.repository.git('rev-parse', 'main'),
      ])
      t.match(after.status, { commit: { sha: await young.repository.git('rev-parse', 'main') } })
      t.equal((await commitsOf(old.repository, before)).length, 1, 'what was pushed stays')
    },
  )

  t.test('both parts finish what is in flight when they are asked to stop, and exit with 0', async (t) => {
    const team = await commitlet.createTeam()
    const held = await holdingRepository(`${team.namespace}/drained`, 'before', 'receive-pack')
    await team.apply(configMap(), gitCommit('shop', held.repository.url))
    await held.reached()
    const ends = Promise.all([commitlet.function.stop(MINUTE), commitlet.webhook.stop(MINUTE)])
    for (const program of [commitlet.function, commitlet.webhook])
      await program.waitForLine((line) => line.includes('"draining"'))
    held.letGo()
    t.strictSame(await ends, [0, 0])
    const settled = await team.get('shop')
    t.match(settled.status, { phase: 'Succeeded', attempts: 1 })
    t.strictSame(await commitsOf(held.repository, settled), [await held.repository.git('rev-parse', 'main')])
    t.match(commitlet.webhook.lines.at(-1), '"stopped"')
    t.notMatch(commitlet.webhook.lines.join('\n'), /not delivered|not sent before/)
    t.strictSame(await processesIn(folder), [])
  })

  t.test('killed, the function leaves no process of git', async (t) => {
    await commitlet.startWebhook()
    const victim = await commitlet.startFunction({ GIT_ENGINE: 'binary' })
    const team = await commitlet.createTeam()
    const held = await holdingRepository(`${team.namespace}/fetching`, 'before', 'upload-pack')
    await team.apply(configMap(), gitCommit('shop', held.repository.url))
    await held.reached()
    t.ok((await processesIn(folder)).length > 0, 'git is at work')
    await victim.kill()
    // Long before the deadline that each of them carries, and while the server still lets them wait.
    await waitFor(
      'end of every git process',
      async () => ((await processesIn(folder)).length === 0 ? true : undefined),
      6_000,
    )
    t.notOk((await listProcesses()).some(({ command }) => command.includes(held.repository.url)))
    await team.kubectl(['delete', 'gitcommit', 'shop'])
  })
})
