import t from 'tap'
import type { Test } from 'tap'
import { GIT_ENGINES } from '../../functions/config.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import type { GitRepository } from '../harness/git-repository.ts'
import { configMap, gitCommit, install } from '../harness/installation.ts'
import type { Stored } from '../harness/installation.ts'
import { listProcesses, processesIn } from '../harness/processes.ts'
import { isLong } from '../harness/sample.ts'
import { waitFor } from '../harness/wait.ts'

const ATTEMPT_DEADLINE = 15
const SWEEP_INTERVAL = 3
const PATH = 'shop/settings.yaml'
const MINUTE = 60_000

/** Names of the commits that carry an id of this resource, whatever its generation. */
async function commitsOf(repository: GitRepository, { metadata }: Stored): Promise<readonly string[]> {
  const names = await repository.git('log', '--all', '--format=%H', `--grep=^Commitlet-Id: ${metadata.uid}.`)
  return names.split('\n').filter((name) => name !== '')
}

function seconds(time: unknown): number {
  return Date.parse(String(time)) / 1000
}

withControlPlane(
  t,
  async (t, plane) => {
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
      t.strictSame(await commitsOf(held.repository, settled), [
        await held.repository.git('rev-parse', 'main'),
      ])
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

    for (const GIT_ENGINE of isLong() ? GIT_ENGINES : GIT_ENGINES.slice(0, 1))
      t.test(`${GIT_ENGINE}: killed at any moment, the function commits exactly once, and in time`, (t) =>
        killAndStartAgain(t, { GIT_ENGINE, ATTEMPT_DEADLINE: String(ATTEMPT_DEADLINE) }),
      )

    async function killAndStartAgain(t: Test, env: Readonly<Record<string, string>>): Promise<void> {
      const victim = await commitlet.startFunction(env)
      const team = await commitlet.createTeam()
      const name = (what: string) => `${team.namespace}/${what}`
      const cases = {
        pushed: await holdingRepository(name('pushed'), 'after', 'receive-pack'),
        overwritten: await holdingRepository(name('overwritten'), 'after', 'receive-pack'),
        requested: await holdingRepository(name('requested'), 'after', 'receive-pack'),
        fetching: await holdingRepository(name('fetching'), 'before', 'upload-pack'),
      }
      const resources = Object.entries(cases).map(([what, { repository }]) => {
        const resource = gitCommit(what, repository.url)
        const annotations = what === 'requested' ? { 'commitlet.dev/requested-at': 'now' } : {}
        return { ...resource, metadata: { name: what, annotations } }
      })
      await team.apply(configMap(), ...resources)
      for (const what of ['pushed', 'overwritten', 'requested'] as const) {
        const moved = async () => ((await cases[what].repository.log()).length > 1 ? true : undefined)
        await waitFor(`push of ${what}`, moved, MINUTE)
      }
      await cases.fetching.reached()
      const other = await cases.overwritten.repository.commit('main', { [PATH]: 'of another writer\n' })
      await victim.kill()
      const { stdout } = await team.kubectl(['get', 'gitcommits', '-o', 'json'])
      const { items } = JSON.parse(stdout) as { readonly items: readonly Stored[] }
      const claims = new Map(items.map((item) => [item.metadata.name, item]))
      for (const claim of claims.values()) t.match(claim.status, { phase: 'Progressing', attempts: 1 })
      for (const held of Object.values(cases)) held.letGo()

      const successor = await commitlet.startFunction(env)
      for (const [what, { repository }] of Object.entries(cases)) {
        await team.waitFor(what, 'condition=Ready', '90s')
        const settled = await team.get(what)
        const commits = await commitsOf(repository, settled)
        t.equal(commits.length, 1, `${what}: one commit of that generation`)
        t.match(settled.status, { phase: 'Succeeded', attempts: 2, commit: { sha: commits[0] } })
        const late =
          seconds(settled.status['lastAttemptTime']) - seconds(claims.get(what)?.status['nextAttemptTime'])
        t.ok(late <= 2 * SWEEP_INTERVAL + 1, `${what}: ${late} s after the claim of the killed attempt ended`)
      }
      t.equal(await cases.overwritten.repository.git('rev-parse', 'main'), other)
      t.equal(await cases.overwritten.repository.show(`main:${PATH}`), 'of another writer\n')
      t.match(await cases.fetching.repository.show(`main:${PATH}`), 'colour: blue')
      await successor.stop()
    }
  },
  { own: true },
)
