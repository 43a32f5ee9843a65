import t from 'tap'
import type { Test } from 'tap'
import type { GitEngine } from '../../functions/config.ts'
import { readyOf } from '../harness/conditions.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import { drawnTests } from '../harness/drawn-test.ts'
import { configMap, gitCommit, install } from '../harness/installation.ts'
import { processesIn } from '../harness/processes.ts'
import { sample } from '../harness/sample.ts'
import { waitFor } from '../harness/wait.ts'
import { failureCases, type FailureCase } from './failure-cases.ts'

const ATTEMPT_DEADLINE = 10

withControlPlane(t, async (t, plane) => {
  const folder = t.testdir({})
  // Without sweeps: every retry is made because the user asked.
  const commitlet = await install(t, plane, {
    functionEnv: { TMPDIR: folder, ATTEMPT_DEADLINE: String(ATTEMPT_DEADLINE) },
    webhookEnv: { SWEEP_INTERVAL: '0', SWEEP_FULL_INTERVAL: '0' },
  })
  const { git } = commitlet

  failWith(t, 'direct', ({ reason, phase }) => `${reason} ${phase}`)

  t.test('a lost answer to the push is not a failure: the commit is there once', async (t) => {
    for (const kind of ['lost', 'cut'] as const) {
      const team = await commitlet.createTeam()
      const repository = await git.createRepository(`${team.namespace}/${kind}`)
      git.faults.add({ kind }, { repository: repository.name, exchange: 'receive-pack', times: 1 })
      await team.apply(configMap(), gitCommit('shop', repository.url))
      await team.waitFor('shop', 'condition=Ready', '60s')
      t.match((await team.get('shop')).status, {
        attempts: 1,
        commit: { sha: await repository.git('rev-parse', 'main') },
      })
      t.strictSame(await repository.log('main'), ['Record the shop settings', 'Begin'])
    }
  })

  void drawnTests(t, 2)('with the git binary alone', async (t) => {
    await commitlet.function.stop()
    await commitlet.startFunction({ GIT_ENGINE: 'binary' })
    failWith(t, 'binary', ({ phase, condition }) => `binary ${phase} ${condition}`)
  })

  function failWith(t: Test, engine: GitEngine, rowOf: (one: FailureCase) => string): void {
    for (const one of sample(failureCases(t, git, engine), rowOf)) failOnce(t, one)
  }

  function failOnce(t: Test, one: FailureCase): void {
    const { title, arrange, reason, phase, condition, says, waits } = one
    t.test(`${title} reads ${reason}, and once fixed and requested it succeeds`, async (t) => {
      const team = await commitlet.createTeam({ secrets: ['git', 'mine'] })
      const { repository, credentials, fix } = await arrange(team)
      await team.apply(
        configMap(),
        gitCommit('shop', repository, credentials === undefined ? {} : { credentials }),
      )
      await team.waitFor('shop', `jsonpath={.status.phase}=${phase}`, '60s')
      const { status } = await team.get('shop')
      const message = says.startsWith(' ') ? repository + says : says.replace('URL', repository)
      t.match(readyOf({ status }), { status: 'False', reason, message })
      t.match(status, {
        phase,
        attempts: 1,
        conditions: [
          { type: 'Ready', status: 'False' },
          { type: condition, status: 'True' },
        ],
      })
      const wait = seconds(status['nextAttemptTime']) - seconds(status['lastAttemptTime'])
      if (phase === 'Failed') t.notOk(status['nextAttemptTime'], 'it is not tried again')
      else t.ok(wait >= (waits ?? 1), `tried again after ${wait} s`)
      await waitFor('end of every git process', () => nothingIn(folder), 10_000)

      await fix()
      await team.request('shop')
      await team.waitFor('shop', 'jsonpath={.status.lastHandledRequestedAt}=now', '60s')
      await team.waitFor('shop', 'jsonpath={.status.phase}=Succeeded', '60s')
      t.match((await team.get('shop')).status, { attempts: 1 })
    })
  }
})

function seconds(time: unknown): number {
  return Date.parse(String(time)) / 1000
}

async function nothingIn(folder: string): Promise<true | undefined> {
  return (await processesIn(folder)).length === 0 ? true : undefined
}
